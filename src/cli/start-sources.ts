import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Settings, secretsOf, settingLines } from '../../config/load.ts';
import type { ConfiguredSource, Sources } from '../../config/sources.ts';
import { messageOf } from '../base/errors.ts';
import { makeFolder } from '../base/files.ts';
import { createLogger, type Logger } from '../base/log.ts';
import type { SourcePlan } from '../sources/running.ts';
import { openSources, tell } from './context.ts';
import { announce, type Closer, closeAll, welcome } from './service.ts';
import type { FleetMember } from './start-fleet.ts';

/** How soon a change of sources.yaml takes effect. */
const LOOK_MS = 1000;

/** The service of all sources in this process, until it is stopped. */
export async function startSources(program: Command, first: Sources, signal: AbortSignal): Promise<void> {
  const { path, shared } = first;
  const secrets = new Set([
    ...secretsOf(shared),
    ...first.all.flatMap(({ settings }) => secretsOf(settings)),
  ]);
  const { logLevel: level, logFormat: format } = shared;
  const log = createLogger({ level, format, secrets: () => [...secrets] });
  const opened: Closer[] = [];
  try {
    let member: FleetMember | undefined;
    const { set, url } = await openSet(shared, { log, opened, member: () => member });
    if (shared.fleetUrl) {
      const { joinFleet } = await import('./start-fleet.ts');
      member = joinFleet(shared, first.all, { set, log, url });
      opened.push(member.close);
    }
    const follow = member?.follow ?? follower(set.follow, url, opened);
    if (!member) await follow(first.all);
    makeFolder(shared.dataDir);
    opened.push(announce(shared.dataDir, url));
    tell(`Sources: ${first.all.map(({ name }) => name).join(', ')}, from ${path}.`);
    tell(welcome(url, 'sources'));
    const watch = setInterval(
      watcher(program, first, log, (all) => {
        for (const { settings } of all) for (const secret of secretsOf(settings)) secrets.add(secret);
        return follow(all);
      }),
      LOOK_MS,
    );
    opened.push(() => clearInterval(watch));
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await closeAll(opened, log);
  }
  process.exit(0);
}

interface Opening {
  log: Logger;
  opened: Closer[];
  /** Undefined where this machine is in no fleet, and before it has joined. */
  member: () => FleetMember | undefined;
}

/** The sources, none of them opened yet, and the one server for all of them. */
async function openSet(shared: Settings, { log, opened, member }: Opening) {
  const [{ createMetrics }, { createSourceSet }, { addOverview, sitesOf }, { startHttp }] = await Promise.all(
    [
      import('../base/metrics.ts'),
      import('../sources/set.ts'),
      import('../sources/site.ts'),
      import('../http/server/server.ts'),
    ],
  );
  const checks = () => member()?.checks() ?? [];
  const { httpHost: host, httpPort: port, httpToken: token, feedToken, mcpToken, httpNames } = shared;
  if (shared.otlpEndpoint !== null) {
    const { startTracing } = await import('../app/tracing.ts');
    opened.push(await startTracing(shared, log));
  }
  const set = createSourceSet(log, (name) => member()?.knows(name) ?? false);
  opened.push(() => set.close());
  const metrics = createMetrics();
  const agents = mcpToken === null ? null : (await import('../sources/agents.ts')).agentsOfAll(set, log);
  opened.push(async () => agents?.close());
  const http = await startHttp({
    ...{ host, port, token, feedToken, mcpToken, names: httpNames ?? [], log, metrics },
    sites: (address) => (member()?.sites ?? sitesOf(set))(address),
    parts: [
      (scope) =>
        addOverview(scope, set, {
          metrics,
          log,
          hasLogin: token !== null,
          ...(shared.fleetUrl ? { checks } : {}),
        }),
      ...(agents ? [agents.part] : []),
    ],
  });
  opened.push(() => http.close());
  return { set, url: http.url };
}

/** Each source tells commands that run beside the service where it is. */
function follower(
  follow: (plans: readonly SourcePlan[]) => Promise<void>,
  url: string,
  opened: Closer[],
): (all: readonly ConfiguredSource[]) => Promise<void> {
  const forget = new Map<string, () => void>();
  opened.push(() => {
    for (const end of forget.values()) end();
  });
  return async (all) => {
    await follow(all.map(planOf));
    for (const [name, end] of forget) if (!all.some((source) => source.name === name)) end();
    for (const { name, settings } of all)
      try {
        makeFolder(settings.dataDir);
        forget.set(name, announce(settings.dataDir, `${url}/s/${name}`));
      } catch {
        // A folder that cannot be written to is told of where the source is opened.
      }
  };
}

function planOf({ name, settings, input }: ConfiguredSource): SourcePlan {
  return {
    name,
    host: settings.baseUrl?.host ?? '',
    folder: settings.dataDir,
    key: JSON.stringify([name, input.source?.values, settingLines(settings).map(({ value }) => value)]),
    async open(shared) {
      const { openApp } = await import('../app.ts');
      return await openApp(settings, input, 'start', { isService: true, ...shared });
    },
  };
}

/** Reads the file again when it or .env has changed. If it has problems they are logged, and the sources stay as they were. */
function watcher(
  program: Command,
  { path, all }: Sources,
  log: Logger,
  follow: (all: readonly ConfiguredSource[]) => Promise<void>,
): () => void {
  const cwd = all[0]?.input.cwd ?? '';
  const version = (): string =>
    [path, join(cwd, '.env')]
      .map((file) => statSync(file, { throwIfNoEntry: false }))
      .map((found) => (found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'none'))
      .join();
  let seen = version();
  return () => {
    const now = version();
    if (now === seen) return;
    seen = now;
    const failed = (error: unknown): void =>
      log.error({ event: 'sources.wrong' }, `${messageOf(error)}\nAll sources continue as they were.`);
    try {
      const next = openSources(program);
      if (next) follow(next.all).catch(failed);
      else log.error({ event: 'sources.gone' }, `${path} is gone: all sources continue as they were`);
    } catch (error) {
      failed(error);
    }
  };
}
