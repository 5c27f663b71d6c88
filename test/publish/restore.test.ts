import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Session } from '../../src/postgres/session.ts';
import { restoreMirror } from '../../src/publish/restore.ts';
import type { Rebuild } from '../../src/store/rebuild.ts';

const COPY = {
  ...{ mirror_id: 'm', life: 'before', upstream: 'http://upstream.test', position: '7-a', number: '7' },
  ...{ change: { n: 7 }, version: 3, read_at: '2026-01-01T00:00:00.000Z' },
};
const TABLES = ['posts', 'users'].map((name) => ({ name, columns: [{ name: 'id', type: 'bigint' }] }));

/** A copy that says this of itself, and a mirror that is made of it. */
function restoring({ copy = COPY as typeof COPY | null, isFree = true, onCopy = () => {} } = {}) {
  const stop = new AbortController();
  const [done, positions]: [string[], unknown[]] = [[], []];
  const session = {
    place: 'a server',
    async query(text: string, values: unknown[]) {
      if (text.includes('to_regclass')) return [{ ok: copy !== null }];
      if (text.includes('SELECT mirror_id')) return [copy];
      // A server takes its time.
      await new Promise(setImmediate);
      positions.push(values);
      done.push('position');
      return [{}];
    },
    async transaction(work: () => Promise<unknown>, mode: string) {
      done.push(mode);
      return await work();
    },
    async copyOut(query: string) {
      done.push(query);
      onCopy();
    },
    lock: async () => isFree,
  } as unknown as Session;
  const rebuild = {
    tables: TABLES,
    taker: () => () => undefined,
    finish(state: object) {
      done.push(`finish ${JSON.stringify({ ...state, life: '' })}`);
      return { rows: {} };
    },
    close: () => void done.push('close'),
  } as unknown as Rebuild;
  const begin = (version: number): Rebuild => {
    done.push(`begin ${version}`);
    return rebuild;
  };
  const target = { session, schema: 'feedback', upstream: 'http://upstream.test', begin, knownVersion: 3 };
  return { done, positions, stop, restored: () => restoreMirror({ ...target, signal: stop.signal }) };
}

describe('a mirror that is made of its copy', () => {
  it('has every table as of one moment, and takes the copy over under a new life', async () => {
    const { done, positions, restored } = restoring();
    assert.equal((await restored()).readAt, COPY.read_at);
    assert.deepEqual(done, [
      'ISOLATION LEVEL REPEATABLE READ',
      'begin 3',
      'SELECT "id" FROM "feedback"."posts"',
      'SELECT "id" FROM "feedback"."users"',
      'finish {"readAt":"2026-01-01T00:00:00.000Z","number":7,"change":{"n":7},"life":""}',
      'position',
      'close',
    ]);
    const [mirror, life, upstream, position, number, , version, , before] = positions[0] as unknown[];
    assert.deepEqual(
      [mirror, upstream, position, number, version, before],
      ['m', 'http://upstream.test', '7-a', 7, 3, '7-a'],
    );
    assert.notEqual(life, COPY.life);
  });

  it('is begun only where the copy is free, there, of this service and not newer than this program', async () => {
    for (const [given, why] of [
      [{ isFree: false }, /publishes to the schema feedback just now/],
      [{ copy: null }, /there is no copy of a mirror in the schema feedback/],
      [{ copy: { ...COPY, upstream: 'http://other.test' } }, /holds a mirror of http:\/\/other\.test/],
      [{ copy: { ...COPY, version: 4 } }, /tables 4, this one knows 3/],
    ] as const) {
      const { done, restored } = restoring(given);
      await assert.rejects(restored(), why);
      assert.ok(!done.some((step) => step.startsWith('begin')), String(why));
    }
  });

  it('that is stopped in the middle is closed, and leaves the copy to whom it belongs', async () => {
    const { done, stop, restored } = restoring({ onCopy: () => stop.abort() });
    await assert.rejects(restored(), { name: 'AbortError' });
    assert.deepEqual(done.slice(-2), ['SELECT "id" FROM "feedback"."posts"', 'close']);
  });
});
