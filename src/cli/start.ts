import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import type { Command } from 'commander';
import { unknownNames } from '../../config/spelling.ts';
import type { App } from '../app.ts';
import { checkPort } from '../base/listen.ts';
import type { Metrics } from '../base/metrics.ts';
import { within } from '../base/timeout.ts';
import type { HttpPart } from '../http/server/site.ts';
import type { Service } from '../service/service.ts';
import { type Context, openContext, openSources } from './context.ts';
import { announce, type Closer, closeAll, welcome } from './service.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('start')
    .description('the service: keeps the mirror fresh and sends what is in the outbox, until it is stopped')
    .addHelpText(
      'after',
      '\nExamples:\n  feedback-mirror start\n  feedback-mirror start --sync-head-every 30s --log-level debug',
    )
    .action(async () => {
      const sources = openSources(program);
      if (!sources) return await start(openContext(program, stop));
      stop.addEventListener('abort', endInTime, { once: true });
      const { startSources } = await import('./start-sources.ts');
      return await startSources(program, sources, stop);
    });
}

async function start(context: Context): Promise<void> {
  const { settings, input, signal, say } = context;
  signal.addEventListener('abort', endInTime, { once: true });
  const [{ openApp }, { createMetrics }] = await Promise.all([
    import('../app.ts'),
    import('../base/metrics.ts'),
  ]);
  const { httpHost: host, httpPort: port } = settings;
  await checkPort({ host, port });
  const metrics = createMetrics();
  const app = await openApp(settings, input, 'start', { isService: true, metrics });
  const opened: Closer[] = [() => app.close()];
  try {
    for (const { name, near } of unknownNames(input.env, {}))
      if (near !== null)
        app.log.warn(
          { event: 'settings.unknown', name },
          `${name} is set and is no setting of this program: did you mean ${near}?`,
        );
    if (settings.otlpEndpoint !== null) {
      const { startTracing } = await import('../app/tracing.ts');
      opened.unshift(await startTracing(settings, app.log));
    }
    say(`Mirroring ${settings.baseUrl?.host ?? SANDBOX} into ${settings.mirrorPath}.`);
    const { url, queue } = await open(app, { metrics, signal, opened });
    opened.push(announce(settings.dataDir, url));
    say(welcome(url, 'status'));
    await queue;
    // Node writes compiled code at the end of a process by itself; one that is killed would never start faster.
    flushCompileCache();
    if (!signal.aborted) await once(signal, 'abort');
  } catch (error) {
    // The person stopped the service while it was starting.
    if (!signal.aborted) throw error;
  } finally {
    await closeAll(opened, app.log);
  }
  // A queue that was still opening would keep the process for as long as that takes.
  if (signal.aborted) process.exit(0);
}

interface Opening {
  metrics: Metrics;
  signal: AbortSignal;
  opened: Closer[];
}

/** Everything above the app, in order; what is to be closed again is noted as it opens. */
async function open(
  app: App,
  { metrics, signal, opened }: Opening,
): Promise<{ url: string; queue: Promise<unknown> }> {
  const [{ openQueue }, { startService }] = await Promise.all([
    import('../app.ts'),
    import('../service/service.ts'),
  ]);
  const service = startService(app, { openBackend: () => openQueue(app), metrics, signal });
  opened.push(() => service.close());
  // Loaded while the queue opens.
  const { startHttp } = await import('../http/server/server.ts');
  const { httpHost: host, httpPort: port, httpNames, httpToken: token, feedToken, mcpToken } = app.settings;
  const { progress } = service;
  try {
    const parts = await openSite(app, service, opened);
    const http = await startHttp({
      host,
      port,
      token,
      feedToken,
      mcpToken,
      names: httpNames ?? [],
      endedSessions: app.state.endedSessions,
      log: app.log,
      metrics,
      progress,
      parts,
    });
    opened.push(() => http.close());
    return { url: http.url, queue: service.opened };
  } finally {
    // A queue that cannot be had is told first, and not where the dashboard would have been.
    await within(SOON_MS, service.opened, () => undefined);
  }
}

async function openSite(app: App, service: Service, opened: Closer[]): Promise<readonly HttpPart[]> {
  const { openParts } = await import('../http/compose.ts');
  const { parts, close } = await openParts({ app, service });
  opened.push(close);
  if (app.settings.mcpToken === null) return parts;
  const { agentsOf } = await import('../mcp/http.ts');
  const agents = agentsOf(app);
  opened.push(agents.close);
  return [...parts, agents.part];
}

/** A queue that refuses us says so by then; one whose server is away is not waited for. */
const SOON_MS = 500;

const SANDBOX = 'the built-in sandbox, which is alive with sample feedback,';

/** A supervisor kills the process ten seconds after it asked it to stop. So the process exits before that, also with open handles. */
function endInTime(): void {
  setTimeout(() => process.exit(0), 9900).unref();
}
