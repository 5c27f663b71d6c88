import {
  fileOf,
  keptQueries,
  openQueries,
  openReplica,
  readsForImport,
  viewOutbox,
  viewSync,
  watchPulse,
} from '../app/readers.ts';
import { type App, openOutbox } from '../app.ts';
import { AppError } from '../base/errors.ts';
import { type DashboardDeps, dashboard } from '../http/dashboard/index.ts';
import { openReads } from '../http/dashboard/reads.ts';
import { replica } from '../http/replica/index.ts';
import type { HttpPart } from '../http/server.ts';
import type { Service } from '../worker/service.ts';

export interface Parts {
  parts: HttpPart[];
  close(): Promise<void>;
}

/** Statements of people that run at the same time; each is a process that may fill a core for five seconds. */
const QUERIES_AT_ONCE = 2;

/** What is served beside health, metrics and queues, with handles of its own on the mirror. */
export async function openParts(app: App, service: Service): Promise<Parts> {
  const { settings, clock } = app;
  const opened: (() => Promise<void> | void)[] = [];
  const keep = <T extends { close(): Promise<void> | void }>(handle: T | null): T => {
    if (!handle) throw new AppError('internal', 'the mirror is gone although the service has opened it');
    opened.push(() => handle.close());
    return handle;
  };
  const close = async (): Promise<void> => {
    for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
  };
  try {
    // Not the sender's own: what that one writes itself it does not notice as news.
    const outbox = keep(openOutbox(settings, 'start'));
    const upstream = settings.baseUrl?.href ?? null;
    const api = replica({
      reads: keep(openReplica(settings)),
      outbox,
      clock,
      upstream,
      tokenParameter: settings.authParameter,
      readNewest: () => service.requestSync('posts', 'head'),
    });
    return { parts: [api, dashboard(dashboardDeps(app, service, outbox, keep))], close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Keep = <T extends { close(): Promise<void> | void }>(handle: T | null) => T;

function dashboardDeps(
  { settings, clock, log }: App,
  service: Service,
  outbox: ReturnType<typeof openOutbox>,
  keep: Keep,
): DashboardDeps {
  const view = keep(viewOutbox(settings));
  const reads = keep(readsForImport(settings));
  const desk = { view, outbox, reads, clock };
  const pulse = keep(watchPulse(settings));
  const { timeZone, deliveredStatuses: usualDelivered } = settings;
  const insight = { reads: keep(openReads(fileOf(settings))), clock, timeZone };
  return {
    hasLogin: settings.httpToken !== null,
    events: { pulse, progress: service.progress, log },
    ask: { ask: openQueries(settings, QUERIES_AT_ONCE), saved: keep(keptQueries(settings)), clock },
    outbox: desk,
    imports: { ...desk, folder: settings.dataDir },
    sync: { view: keep(viewSync(settings)), service },
    overview: { ...insight, usualDelivered, version: pulse.version, log },
    posts: { ...insight, upstream: settings.baseUrl?.href ?? null },
  };
}
