import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { Command } from 'commander';
import { spelledApart } from '../../config/spelling.ts';
import type { App } from '../app.ts';
import { messageOf } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { compactHeap, onceQuiet } from '../base/heap.ts';
import { reservePort } from '../base/listen.ts';
import type { Metrics } from '../base/metrics.ts';
import { CALLED } from '../base/program.ts';
import { within } from '../base/timeout.ts';
import type { HttpOptions, HttpServer } from '../http/server.ts';
import type { Service } from '../worker/service.ts';
import { type Context, openContext } from './context.ts';
import { announce } from './service.ts';

export function register(program: Command, stop: AbortSignal): void {
  program
    .command('start')
    .description('the service: keeps the mirror fresh and sends what is in the outbox, until it is stopped')
    .addHelpText(
      'after',
      '\nExamples:\n  feedback-mirror start\n  feedback-mirror start --sync-head-every 30s --log-level debug',
    )
    .action(() => start(openContext(program, stop)));
}

async function start(context: Context): Promise<void> {
  const { settings, input, signal, say } = context;
  signal.addEventListener('abort', endInTime, { once: true });
  const [{ openApp }, { createMetrics }] = await Promise.all([
    import('../app.ts'),
    import('../base/metrics.ts'),
  ]);
  const { httpHost: host, httpPort: port } = settings;
  const releasePort = await reservePort({ host, port });
  const metrics = createMetrics();
  const app = await openApp(settings, input, 'start', { isService: true, metrics });
  const opened: (() => Promise<void>)[] = [() => app.close()];
  try {
    for (const { name, near } of spelledApart(input.env))
      app.log.warn(
        { event: 'settings.unknown', name },
        `${name} is set and is no setting of this program: did you mean ${near}?`,
      );
    if (settings.otlpEndpoint !== null) {
      const { startTracing } = await import('../app/tracing.ts');
      opened.unshift(await startTracing(settings, app.log));
    }
    say(`Mirroring ${settings.baseUrl?.host ?? SANDBOX} into ${settings.mirrorPath}.`);
    const { url, everything } = await open(app, { metrics, signal, opened, releasePort });
    const forget = announce(settings.dataDir, url);
    opened.push(async () => forget());
    say(
      `Dashboard: ${url}/\nStop with Ctrl-C, or from elsewhere with: kill ${process.pid}\nIn another terminal: ${CALLED} status`,
    );
    await everything;
    settleDown();
    if (!signal.aborted) await once(signal, 'abort');
  } catch (error) {
    // Told to stop while it was starting: that is what it does.
    if (!signal.aborted) throw error;
  } finally {
    for (let close = opened.pop(); close; close = opened.pop())
      // With a full disk not everything closes well; the rest does all the same, and the next start gets over it.
      await close().catch((error) =>
        app.log.warn({ event: 'service.close.failed' }, `something did not close: ${messageOf(error)}`),
      );
    app.log.info({ event: 'service.stopped' }, 'the service has stopped');
  }
  // A queue that was still opening would keep the process for as long as that takes.
  if (signal.aborted) process.exit(0);
}

interface Opening {
  metrics: Metrics;
  signal: AbortSignal;
  opened: (() => Promise<void>)[];
  releasePort: () => Promise<void>;
}

/** Everything above the app, in order; what is to be closed again is noted as it opens. */
async function open(
  app: App,
  { metrics, signal, opened, releasePort }: Opening,
): Promise<{ url: string; everything: Promise<unknown> }> {
  const [{ openQueue }, { startService }] = await Promise.all([
    import('../app.ts'),
    import('../worker/service.ts'),
  ]);
  const service = startService(app, { openBackend: () => openQueue(app), metrics, signal });
  opened.push(() => service.close());
  // Loaded while the queue opens.
  const { startHttp } = await import('../http/server.ts');
  const { httpHost: host, httpPort: port, httpNames, httpToken: token, feedToken, mcpToken } = app.settings;
  const { progress, queues } = service;
  const site = sitePart(app, service);
  try {
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
      releasePort,
      progress,
      queues,
      parts: site.open,
    });
    opened.push(site.close, () => http.close());
    const everything = Promise.all([service.opened, loadForUploads(app, service, http)]);
    // Awaited by the caller: told to stop before that, a failure is nobody's.
    everything.catch(() => undefined);
    return { url: http.url, everything };
  } finally {
    // A queue that cannot be had is told first, and not where the dashboard would have been.
    await within(SOON_MS, service.opened, () => undefined);
  }
}

/** What is served beside health and queues: 20 MB, and a quarter of the time of a start. */
function sitePart(app: App, service: Service): { open: HttpOptions['parts']; close: () => Promise<void> } {
  const closing: (() => Promise<void>)[] = [];
  return {
    async open() {
      const { openParts } = await import('../http/compose.ts');
      const { parts, close } = await openParts({ app, service });
      closing.push(close);
      settleDown();
      if (app.settings.mcpToken === null) return parts;
      const { agentsPart } = await import('../mcp/http.ts');
      const agents = agentsPart(app);
      closing.push(agents.close);
      return [...parts, agents.part];
    },
    async close() {
      for (let close = closing.pop(); close; close = closing.pop()) await close();
    },
  };
}

/** An import of the dashboard goes on where a stop interrupted it, and what was uploaded is removed after a day. */
async function loadForUploads({ settings }: App, { ticked }: Service, http: HttpServer): Promise<void> {
  if (!isThere(join(settings.dataDir, 'uploads'))) return;
  await within(SOON_MS, ticked, () => undefined).catch(() => undefined);
  await http.loadParts();
}

/** A queue that refuses us says so by then; one whose server is away is not waited for. */
const SOON_MS = 500;

/** Node writes compiled code at the end of a process by itself; one that is killed would never start faster. */
function settleDown(): void {
  onceQuiet(() => {
    flushCompileCache();
    compactHeap();
  });
}

const SANDBOX = 'the built-in sandbox, which is alive with sample feedback,';

/** Whoever told us to stop kills us after ten seconds; nothing that is left open then is worth that. */
function endInTime(): void {
  setTimeout(() => process.exit(0), 9900).unref();
}
