import type { Sweeps } from '../app/sweeps.ts';
import type { App } from '../app.ts';
import { openQueue } from '../app.ts';
import { AppError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { createMetrics, type Metrics } from '../base/metrics.ts';
import { inSource } from '../base/tracing.ts';
import { LIMITS } from '../http/server/server.ts';
import type { Site } from '../http/server/site.ts';
import type { Progress } from '../service/health.ts';
import { type Service, startService } from '../service/service.ts';

/** A source as the file has it. */
export interface SourcePlan {
  name: string;
  host: string;
  folder: string;
  /** The same as long as nothing that the file says of it has changed. */
  key: string;
  open(shared: SharedParts): Promise<App>;
}

export interface SharedParts {
  metrics: Metrics;
  /** Of all sources of the process. */
  sweeps: Sweeps;
}

export interface RunningSource {
  plan: SourcePlan;
  metrics: Metrics;
  /** Null while it could not be opened; `trouble` says why. */
  app(): App | null;
  trouble(): string | null;
  progress(): Promise<Progress | null>;
  /** Opened by the first request: a source that nobody looks at holds nothing for it. */
  site(): Promise<Site>;
  close(): Promise<void>;
}

const RETRY_MS = 15_000;

interface Opened {
  app: App;
  service: Service;
  site: Promise<Site> | null;
}

/** One source with a service of its own. One that cannot be opened is tried again, and the others are not told of it. */
export function runSource(plan: SourcePlan, log: Logger, sweeps: Sweeps): RunningSource {
  const stop = new AbortController();
  const metrics = createMetrics({ source: plan.name });
  let opened: Opened | null = null;
  let trouble: string | null = null;
  let timer: NodeJS.Timeout | undefined;

  const begin = async (): Promise<void> => {
    try {
      const app = await plan.open({ metrics, sweeps });
      if (stop.signal.aborted) return await app.close();
      const options = { openBackend: () => openQueue(app), metrics, signal: stop.signal };
      const service = startService(app, options);
      opened = { app, service, site: null };
      trouble = null;
      await service.opened.catch((error) => fail(error, app));
    } catch (error) {
      fail(error, null);
    }
  };
  const fail = (error: unknown, app: App | null): void => {
    if (stop.signal.aborted) return;
    const said = messageOf(error);
    if (said !== trouble)
      log.error({ event: 'source.failed', source: plan.name }, `${plan.name} could not be opened: ${said}`);
    trouble = said;
    timer = setTimeout(() => {
      opening = closeOpened().then(begin);
    }, RETRY_MS).unref();
    if (app === null) opened = null;
  };
  const closeOpened = async (): Promise<void> => {
    const now = opened;
    opened = null;
    if (now !== null) await close(now);
  };
  let opening = inSource(plan.name, begin);
  return {
    plan,
    metrics,
    app: () => opened?.app ?? null,
    trouble: () => trouble,
    progress: async () => (opened ? await opened.service.progress() : null),
    async site() {
      if (opened === null) throw notOpen(plan.name, trouble);
      return await onceOpen(opened, plan.name, metrics);
    },
    async close() {
      stop.abort(new AppError('interrupted', 'the source is stopping'));
      clearTimeout(timer);
      await opening;
      await closeOpened();
    },
  };
}

/** The site is opened with the first request for it. One that could not be opened is tried again. */
function onceOpen(opened: Opened, name: string, metrics: Metrics): Promise<Site> {
  opened.site ??= inSource(name, () => siteOf(opened, metrics, `/s/${name}`)).catch((error) => {
    opened.site = null;
    throw error;
  });
  return opened.site;
}

async function close({ app, service, site }: Opened): Promise<void> {
  await site?.then((open) => open.close()).catch(() => undefined);
  await service.close();
  await app.close();
}

function notOpen(name: string, trouble: string | null): AppError {
  const why = trouble === null ? 'it is being opened' : trouble;
  return new AppError('busy', `the source ${name} is not there: ${why}`);
}

async function siteOf({ app, service }: Opened, metrics: Metrics, mount: string): Promise<Site> {
  const [{ openParts }, { openSite }, { agentsOf }] = await Promise.all([
    import('../http/compose.ts'),
    import('../http/server/site.ts'),
    import('../mcp/http.ts'),
  ]);
  const { parts, close } = await openParts({ app, service }, { mount });
  const agents = app.settings.mcpToken === null ? null : agentsOf(app);
  const { progress } = service;
  const all = agents ? [...parts, agents.part] : parts;
  try {
    const site = await openSite({
      log: app.log,
      metrics,
      progress,
      limits: LIMITS,
      parts: all,
    });
    return {
      handle: (request, response) =>
        inSource(app.settings.source ?? '', () => site.handle(request, response)),
      async close() {
        await site.close();
        await agents?.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
