import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createRateLimit } from '../../src/api/rate-limit.ts';
import type { Clock } from '../../src/base/clock.ts';
import { RESOURCES } from '../../src/contract/endpoints.ts';
import type { PostWire } from '../../src/contract/entities.ts';
import { erasePerson } from '../../src/erasure/erase.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { exportMirror } from '../../src/export/export.ts';
import { openExportSource } from '../../src/export/store/export.ts';
import { EXPORT_TABLES, type ExportTable } from '../../src/export/store/tables.ts';
import { acceptPost } from '../../src/outbox/create.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { createRandom } from '../../src/sandbox/random.ts';
import type { World } from '../laboratory/server.ts';
import { UPSTREAM, workbenchFor } from '../mirror/workbench.ts';
import { drive } from '../outbox/drive.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { request } from './mirror.ts';

const INCREMENTS = 50;
/** Between two increments: longer than what they overlap by. */
const PAUSE_MS = 600_000;
/** Before this one the clock is set back. */
const SET_BACK = 45;
const SEED = 20_260_131;

type Random = ReturnType<typeof createRandom>;
type Row = Record<string, string | number | null>;

/** What a consumer keeps: the last row under each key, as the increments brought it. */
type Copy = Map<ExportTable, Map<string, Row>>;

function keyOf(row: Row): string {
  return String(row.id ?? `${row.comment_id ?? row.post_id} ${row.observed_at}`);
}

/** No two moments are the same one, as on a real clock. */
function tickingClock(): Clock & Pick<FakeClock, 'advance' | 'set'> {
  const clock = fakeClock();
  return {
    ...clock,
    now() {
      clock.advance(1);
      return clock.now();
    },
  };
}

/** One change of the upstream; all that can make a row of an export another one. */
function change(world: World, random: Random, gone: Gone[]): void {
  const posts = world.posts();
  const [post, comments] = [random.pick(posts), world.comments()];
  const comment = random.pick(comments);
  const word = `n${random.int(1e9)}`;
  const acts: (() => void)[] = [
    () => world.vote(post.id),
    () => world.setStatus(post.id, random.pick(world.statuses()).id),
    () => world.editPost(post.id, { title: `Title ${word}` }),
    () => world.editPost(post.id, { content: `Ask someone@example.com about ${word}` }),
    () => world.editPost(post.id, { board: random.pick(world.boards()).slug }),
    () => void world.addPost({ title: `New ${word}`, email: `${word}@example.com` }),
    () => void world.addComment({ post: post.id, content: `Said ${word}` }),
    () => world.editComment(comment.id, { content: `Mended ${word}`, likes: random.int(9) }),
    () => void world.deleteComment(comment.id),
    () => vanish(world, post.id, gone),
    () => comeBack(world, gone),
    () => world.editUser(random.pick(world.users()).id, { name: `Name ${word}` }),
    () => rename(world, 'boards', random.pick(world.boards()).id, word),
    () => rename(world, 'statuses', random.pick(world.statuses()).id, word),
  ];
  random.pick(acts)();
}

/** The rows of a post that disappeared, so that it can come back. */
interface Gone {
  table: 'posts' | 'comments';
  row: Row;
}

function vanish(world: World, id: number, gone: Gone[]): void {
  const keep = (table: Gone['table'], key: string): void => {
    const rows = world.db.prepare<[number], Row>(`SELECT * FROM ${table} WHERE ${key} = ?`).all(id);
    gone.push(...rows.map((row) => ({ table, row })));
  };
  keep('posts', 'id');
  keep('comments', 'post_id');
  world.deletePost(id);
}

function comeBack(world: World, gone: Gone[]): void {
  const last = gone.findLastIndex(({ table }) => table === 'posts');
  for (const { table, row } of last < 0 ? [] : gone.splice(last)) {
    const names = Object.keys(row);
    const marks = names.map(() => '?').join(', ');
    world.db
      .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`)
      .run(...Object.values(row));
  }
}

function rename(world: World, table: 'boards' | 'statuses', id: number, word: string): void {
  world.db.prepare(`UPDATE ${table} SET name = ? WHERE id = ?`).run(`Renamed ${word}`, id);
}

async function openScene(t: TestContext) {
  const clock = tickingClock();
  const bench = await workbenchFor(t, { posts: 40, pageSize: 20, seed: SEED }, clock);
  const place = { path: bench.path, upstream: UPSTREAM, holder: 'the test' };
  const [erasure, outbox] = [openErasureStore(place), openOutboxStore(place)];
  t.after(() => Promise.all([erasure.close(), outbox.close()]));
  const { signal } = new AbortController();
  const sync = async (): Promise<void> => {
    for (const resource of RESOURCES)
      await bench.sync({ resource, mode: 'sweep', acceptDeletes: true, wait: true });
  };
  const erase = async (email: string): Promise<void> => {
    await erasePerson({ store: erasure, clock, signal, compact: async () => true }, email);
  };
  const expire = async (): Promise<void> => {
    await erasure.expire(clock.now(), clock.now());
  };
  const create = async (email: string): Promise<void> => {
    const draft = { board: 'bugs', title: 'Sent', content: `By ${email}`, email, full_name: 'Someone' };
    await acceptPost({ store: outbox, clock, random: Math.random }, draft, null);
    const times = { createMs: 5000, settleMs: 10, perMinute: Number.POSITIVE_INFINITY, random: Math.random };
    const sending = {
      store: outbox,
      client: bench.client,
      gate: createRateLimit(clock),
      clock,
      signal,
      ...times,
    };
    await drive(sending, { batch: null, perMinute: 1e9 });
  };
  const read = async (what: ExportTable, since: string | null): Promise<Row[]> => {
    const source = openExportSource(place);
    const stream = new PassThrough();
    const lines = text(stream);
    try {
      await exportMirror(source, request({ stream }, { what: [what], since, clock }));
    } finally {
      source.close();
      stream.end();
    }
    const rows = (await lines).split('\n').slice(0, -1);
    return rows.map((line) => JSON.parse(line) as Row);
  };
  return { clock, world: bench.sandbox.world, sync, erase, expire, create, read };
}

it(`${INCREMENTS} increments, applied by key, are the full export`, async (t) => {
  const { clock, world, sync, erase, expire, create, read } = await openScene(t);
  const random = createRandom(SEED);
  const gone: Gone[] = [];
  const copy: Copy = new Map(EXPORT_TABLES.map((table) => [table, new Map()]));
  /** Of a post that changes before anything is read again. */
  const eraseAuthor = async ({ id, creator }: PostWire): Promise<void> => {
    await erase(creator.email ?? '');
    world.vote(id);
  };
  let since: string | null = null;
  let carried = 0;
  for (let n = 0; n <= INCREMENTS; n++) {
    clock.advance(PAUSE_MS);
    if (n === SET_BACK) clock.set(clock.now() - 3 * PAUSE_MS);
    const began = new Date(clock.now()).toISOString();
    if (n > 0) {
      for (let i = random.int(5); i >= 0; i--) change(world, random, gone);
      const sender = `sent${n}@example.com`;
      const email = random.pick(world.users()).email ?? '';
      if (random.chance(0.1)) await create(sender);
      if (random.chance(0.2)) await eraseAuthor(random.pick(world.posts()));
      await sync();
      if (random.chance(0.1)) await erase(random.pick([email, 'someone@example.com', sender]));
      if (random.chance(0.1)) await expire();
    } else await sync();
    for (const [table, rows] of copy) {
      const increment: Row[] = await read(table, since);
      carried += since === null ? 0 : increment.length;
      for (const row of increment) rows.set(keyOf(row), row);
      const full = await read(table, null);
      const differing = full.filter((row) => !isDeepStrictEqual(row, rows.get(keyOf(row))));
      assert.deepEqual(differing, [], `${table}, increment ${n}`);
      assert.equal(rows.size, full.length, `${table} has one row a key`);
    }
    since = began;
  }
  const full = await Promise.all(EXPORT_TABLES.map((table) => read(table, null)));
  assert.ok(carried < (INCREMENTS * full.flat().length) / 2, 'an increment is a part');
});
