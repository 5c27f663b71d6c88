import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import { writeListed } from '../../src/app.ts';
import type { Post } from '../../src/contract/decode.ts';
import type { MirrorStore } from '../../src/mirror/store/store.ts';
import { openMirrorStore } from '../../src/mirror/store/store.ts';
import { syncOnce } from '../../src/mirror/sweep/engine.ts';
import type { OutboxRow, OutboxState, PostText, Transition } from '../../src/outbox/decide/types.ts';
import { contentHash } from '../../src/outbox/decide/whose.ts';
import { checkAfterSweep } from '../../src/outbox/send/after-check.ts';
import type { OutboxContext } from '../../src/outbox/send/context.ts';
import { push } from '../../src/outbox/send/push.ts';
import { type ReconcileResult, reconcile } from '../../src/outbox/send/reconcile.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { folderFor } from '../support/folder.ts';
import { placeNewMirror, queryFile } from '../support/mirror.ts';
import { confirmed, type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const CREATE_MS = 30_000;
export const SETTLE_MS = 60_000;

/** Puts a row into a state that the program reaches by several steps, or in another process. */
export function leading(from: OutboxState, to: OutboxState): Transition {
  return { from: [from], to } as unknown as Transition;
}

/** What the example post of the contract says, so that the example and a row match. */
export const TEXT: PostText = {
  board: 'ideas',
  title: 'Dark mode',
  content: 'My eyes hurt at night.',
  email: null,
  full_name: null,
};

/** An outbox in a file of its own, a mirror beside it, a clock that stands still and an upstream on a string. */
export interface Bench {
  path: string;
  clock: FakeClock;
  store: OutboxStore;
  mirror: MirrorStore;
  upstream: ScriptedUpstream;
  context: OutboxContext;
  /** Another process's handle on the same file. */
  another(): OutboxStore;
  add(text?: Partial<PostText>, batch?: string): Promise<number>;
  row(id: number): Promise<OutboxRow>;
  /** A complete sweep of the upstream's list and, after it, the look for second posts; told are the rows it found some on. */
  sweep(): Promise<number[]>;
  query<T>(sql: string): T[];
  /** Changes the file behind the store. */
  write(sql: string): void;
}

export function benchFor(t: TestContext): Bench {
  const folder = folderFor(t, 'outbox');
  const path = join(folder, 'mirror.db');
  placeNewMirror(path);
  const options = { path, upstream: 'http://upstream.test', holder: 'a test' };
  const clock = fakeClock();
  const store = openOutboxStore(options);
  const open: { close(): void }[] = [store];
  let opened: MirrorStore | undefined;
  // Opening it costs as much as the outbox, and half of the tests do not use it.
  const mirror = (): MirrorStore => {
    if (opened !== undefined) return opened;
    opened = openMirrorStore(options);
    open.push(opened);
    return opened;
  };
  const upstream = scriptedUpstream(clock);
  const signal = new AbortController().signal;
  t.after(async () => {
    for (const one of open) await one.close();
  });
  const gate = createRateLimit(clock);
  const times = { createMs: CREATE_MS, settleMs: SETTLE_MS, perMinute: Number.POSITIVE_INFINITY };
  const observe = (posts: Post[]): void => writeListed(mirror(), posts, clock.now());
  const context = { store, client: upstream.client, gate, clock, signal, observe, ...times };
  let keys = 0;
  return {
    path,
    clock,
    store,
    get mirror() {
      return mirror();
    },
    upstream,
    context: { ...context, random: () => 0.5 },
    another() {
      const other = openOutboxStore(options);
      open.push(other);
      return other;
    },
    async add(text = {}, batch = 'test') {
      const post = { ...TEXT, ...text };
      const key = { batch, source_key: `key ${++keys}`, line: null, content_hash: contentHash(post) };
      const [accepted] = await store.accept([{ ...post, ...key }], clock.now());
      assert.equal(accepted?.outcome, 'accepted');
      return accepted.id;
    },
    async row(id) {
      const row = await store.find(id);
      assert.ok(row);
      return row;
    },
    async sweep() {
      const pass = { client: upstream.client, store: mirror(), clock, signal, ahead: 1, onPage: () => {} };
      const outcome = await syncOnce(pass, { resource: 'posts', mode: 'sweep' });
      assert.ok(outcome.done);
      clock.advance(1000);
      return (await checkAfterSweep(store, clock, outcome.summary.startedAt)).map((row) => row.id);
    },
    query: <T>(sql: string) => queryFile<T>(path, sql),
    write(sql) {
      const db = new Database(path);
      db.exec(sql);
      db.close();
    },
  };
}

/** Reconciles what is due, and tells what became of one row. */
/** A row whose answer names a post that stood there before it was sent. */
export async function namedOlder(bench: Bench): Promise<{ id: number; older: number }> {
  const { id: older } = bench.upstream.publish({ title: 'Of somebody else' });
  await bench.sweep();
  const id = await bench.add();
  bench.upstream.outcomes = [confirmed(older)];
  await push(bench.context, id);
  return { id, older };
}

export async function reconcileRow(context: OutboxContext, id: number): Promise<ReconcileResult | 'gone'> {
  return (await reconcile(context)).get(id) ?? 'gone';
}
