import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { readsForImport, viewOutbox, viewSync } from '../../src/app/readers.ts';
import { openOutbox } from '../../src/app.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Resource } from '../../src/contract/resources.ts';
import { addImports } from '../../src/http/dashboard/imports.ts';
import { addOutbox } from '../../src/http/dashboard/outbox.ts';
import { addSync } from '../../src/http/dashboard/sync.ts';
import type { HttpPart } from '../../src/http/server.ts';
import { syncOnce } from '../../src/sync/engine.ts';
import type { Service } from '../../src/worker/service.ts';
import { ask, type Reply } from '../http/client.ts';
import { open, type Running } from '../http/service.ts';
import { openStation, type Station, type StationOptions } from '../worker/station.ts';

/** A sandbox, its mirror, and the pages of outbox, import and sync over real handles on it. */
export interface DeskSite {
  station: Station;
  http: Running;
  get<T>(path: string): Promise<T>;
  /** Sends JSON as a page of the service would, whatever the answer. */
  send(path: string, body?: unknown): Promise<Reply>;
  post<T>(path: string, body?: unknown): Promise<T>;
  sweep(resource?: Resource): Promise<void>;
}

export interface DeskOptions extends Partial<StationOptions> {
  clock?: Clock;
  limitBytes?: number;
  /** Starts the service as well, on the queue of the options. */
  withService?: boolean;
}

export async function openDesk(t: TestContext, options: DeskOptions = {}): Promise<DeskSite> {
  const station = await openStation(t, { queueUrl: null, ...options });
  const service = options.withService ? await station.start({ SYNC_HEAD_EVERY: 'off' }) : idle;
  const http = await open(t, { progress: service.progress, parts: [deskPart(t, station, service, options)] });
  const send = (path: string, body: unknown = {}): Promise<Reply> =>
    ask(http, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: http.url },
      body: JSON.stringify(body),
    });
  return {
    station,
    http,
    get: async <T>(path: string) => parsed<T>(await ask(http, path)),
    send,
    post: async <T>(path: string, body?: unknown) => parsed<T>(await send(path, body)),
    sweep: (resource = 'posts') => sweep(station, resource),
  };
}

/** The routes, as the service registers them. */
export function deskPart(
  t: TestContext,
  { app, folder }: Station,
  service: Pick<Service, 'progress' | 'requestSync'>,
  { clock = app.clock, limitBytes }: DeskOptions = {},
): HttpPart {
  const [view, reads] = [viewOutbox(app.settings), readsForImport(app.settings)];
  const [outbox, sync] = [openOutbox(app.settings, 'test'), viewSync(app.settings)];
  assert.ok(view && reads);
  t.after(async () => {
    await Promise.all([view.close(), reads.close(), outbox.close()]);
    sync.close();
  });
  return async (scope) => {
    addOutbox(scope, { view, outbox, reads, clock });
    await addImports(scope, { view, outbox, reads, clock, folder, ...(limitBytes ? { limitBytes } : {}) });
    addSync(scope, { view: sync, service });
  };
}

const idle: Pick<Service, 'progress' | 'requestSync'> = {
  progress: async () => assert.fail('no service runs here'),
  requestSync: async () => assert.fail('no service runs here'),
};

function parsed<T>({ status, body }: Reply): T {
  assert.ok(status < 300, `${status}: ${body}`);
  return JSON.parse(body) as T;
}

async function sweep({ app }: Station, resource: Resource): Promise<void> {
  const { client, store, clock } = app;
  const context = { client, store, clock, signal: AbortSignal.timeout(20_000), ahead: 1, onPage: () => {} };
  const outcome = await syncOnce(context, { resource, mode: 'sweep' });
  assert.ok(outcome.done);
}
