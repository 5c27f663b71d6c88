import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import type { Comment, Post } from '../../src/contract/decode.ts';
import { openForWriting } from '../../src/db/open.ts';
import { openErasureStore } from '../../src/erasure/store/store.ts';
import { columnPacker, wronglyPacked } from '../../src/mirror/index/columns.ts';
import { type Definition, REPORTS, type ReportName } from '../../src/reports/catalogue.ts';
import { bucketsOf, calendarOf, periodOf } from '../../src/reports/moment.ts';
import type { ReportRequest } from '../../src/reports/report.ts';
import { runReport } from '../../src/reports/run.ts';
import { openReportReader, type ReportReader } from '../../src/reports/store.ts';
import { coverage, watchedBuckets } from '../../src/reports/watching.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import { readCustomers } from '../../src/segments/file.ts';
import { openSegmentStore } from '../../src/segments/store.ts';
import { type Mirror, openTestMirror } from '../support/mirror.ts';
import { aComment, aPost, minute, range } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import * as wire from '../support/wire.ts';

const DAY = 1440;
const DAYS = 40;
const PEOPLE = 6;

/** Every column as the tables themselves have it. */
const RECOMPUTED = {
  posts: `SELECT id, created, board_id AS board, status_id AS status, votes_count AS votes, comments_count AS comments,
                 creator_id AS creator, version_at AS version, deleted_at IS NOT NULL AS gone FROM posts ORDER BY id`,
  comments: `SELECT post_id AS post, created, creator_id AS creator, deleted_at IS NOT NULL AS gone,
                    kind = 'reply' AND internal = 0 AS reply FROM comments ORDER BY post, created, creator`,
  versions: `SELECT post_id AS post, observed_at AS at, status_id AS status, votes_count AS votes, board_id AS board,
                    deleted AS gone FROM post_versions ORDER BY post, n`,
} as const;

describe('what reports add up', () => {
  for (const seed of [1, 2]) {
    it(`equals the tables after random changes, deletions, returns, moves, renames and an erasure (${seed})`, async () => {
      const mirror = openTestMirror();
      const lasting = openReportReader(mirror);
      try {
        const world = createWorld(createRandom(seed));
        for (let day = 0; day < DAYS; day += 4) {
          world.change(day);
          sweep(mirror.store, 'posts', world.posts(), day * DAY, { acceptDeletes: true });
          sweep(mirror.store, 'comments', world.comments(), day * DAY, { acceptDeletes: true });
          pack(mirror, world.random);
          if (day === 20) erase(mirror, day);
          await assertSameAsTables(mirror);
          // Also a reader that has kept the columns of the days before.
          await assertSameAsTables(mirror, lasting);
        }
        importCustomers(mirror);
        await assertSameAsSql(mirror);
        assertWrongNumbersAreFound(mirror);
      } finally {
        await lasting.close();
        mirror.dispose();
      }
    });
  }

  it('equals the tables at both sides of every width that numbers are kept in', async () => {
    const mirror = openTestMirror();
    try {
      const edges = [0, 2 ** 8, 2 ** 16, 2 ** 31, -(2 ** 31)].flatMap((edge) => [edge - 1, edge]);
      const created = new Date(minute(0) + 12_345_678).toISOString();
      const posts = edges.map((votes_count, n) => aPost(n + 1, { votes_count, created }));
      sweep(mirror.store, 'posts', posts, 1);
      const db = openForWriting(mirror);
      // Each by itself: no larger number beside it makes it wider.
      const packer = columnPacker(db, { chunk: 1 });
      while (packer.step());
      db.close();
      await assertSameAsTables(mirror);
    } finally {
      mirror.dispose();
    }
  });
});

describe('posts that come in before all that is packed', () => {
  it('are packed with the first of them, and then there is nothing left to do', async () => {
    const mirror = openTestMirror();
    try {
      const all = range(1, 20).map((id) => aPost(id));
      const db = openForWriting(mirror);
      const packer = columnPacker(db, { chunk: 5, mostChanges: 4 });
      for (const posts of [all.slice(10), all]) {
        sweep(mirror.store, 'posts', posts, 1);
        for (let steps = 0; packer.step(); steps++) assert.ok(steps < 20, 'it never ends');
        await assertSameAsTables(mirror);
      }
      assert.equal(db.prepare('SELECT count(*) FROM report_changes').pluck().get(), 0);
      db.close();
    } finally {
      mirror.dispose();
    }
  });
});

/** Some of what is to be packed, in chunks so small that every edge is met. */
function pack({ path, upstream }: Mirror, random: Random): void {
  const db = openForWriting({ path, upstream });
  const packer = columnPacker(db, { chunk: 5, mostChanges: 4 });
  for (let steps = random.int(12); steps > 0 && packer.step(); steps--);
  if (random.chance(0.1)) packer.clear();
  db.close();
}

function erase({ path, upstream }: Mirror, day: number): void {
  const store = openErasureStore({ path, upstream, holder: 'the test' });
  const person = store.suppress('person2@example.com', minute(day * DAY));
  for (let walk = store.erase(person, null, minute(day * DAY)); walk.next !== null; )
    walk = store.erase(person, walk.next, minute(day * DAY));
  store.close();
}

async function assertSameAsTables(mirror: Mirror, lasting?: ReportReader): Promise<void> {
  const { path } = mirror;
  const reader = lasting ?? openReportReader(mirror);
  const db = new Database(path, { readonly: true });
  try {
    for (const [source, sql] of Object.entries(RECOMPUTED)) {
      const rows = db.prepare<[], Record<string, string | number>>(sql).all();
      const names = db
        .prepare(sql)
        .columns()
        .map(({ name }) => name);
      const found = (await reader.columns({ [source]: names })) as unknown as Record<string, Packed>;
      const columns = found[source] as Packed;
      const told = Array.from({ length: columns.rows as number }, (_, i) =>
        names.map((name) => (columns[name] as Float64Array)[i]),
      );
      // Those of one post stay in their order.
      told.sort((a, b) => Number(a[0]) - Number(b[0]));
      const meant = rows.map((row) => names.map((name) => numberOf(row[name])));
      assert.deepEqual(told, meant, source);
    }
  } finally {
    db.close();
    if (!lasting) await reader.close();
  }
}

/** As doctor looks for them. */
function assertWrongNumbersAreFound({ path, upstream }: Mirror): void {
  const db = openForWriting({ path, upstream });
  const packer = columnPacker(db, { chunk: 5 });
  while (packer.step());
  assert.deepEqual(wronglyPacked(db), []);
  db.exec(
    "UPDATE report_columns SET data = zeroblob(length(data)) WHERE source = 'comments' AND name = 'created'",
  );
  assert.deepEqual(wronglyPacked(db), ['comments']);
  packer.clear();
  assert.deepEqual(wronglyPacked(db), []);
  db.close();
}

type Packed = Record<string, Float64Array | number>;

function numberOf(value: string | number | undefined): number {
  return typeof value === 'string' ? Date.parse(value) : (value ?? 0);
}

/** The same question as SQL over the tables, beside each report that is added up from columns; null for those that read rows themselves. */
const IN_SQL: Record<ReportName, string | null> = {
  // ledger.test.ts recomputes these from what the upstream was, and so needs no SQL.
  ...{ 'gaining-posts': null, climbers: null, votes: null, 'time-in-status': null, 'first-reply': null },
  ...{ 'top-posts': 'top-posts', 'new-by-week': 'new-by-week', funnel: 'funnel', boards: 'boards' },
  ...{ delivered: 'delivered', unanswered: 'unanswered', stale: 'stale' },
  ...{ customers: 'customers', requests: 'requests', segments: 'segments', demand: 'demand' },
  ...{ overview: null, 'post-votes': null, duplicates: null, 'sync-health': null, shipped: null },
};
const REQUESTS: Partial<ReportRequest>[] = [
  {},
  { since: '9d', limit: 4 },
  { since: '2025-12-01', until: '2026-01-25T13:00', board: '2' },
];

const CUSTOMERS = `email,plan,mrr
person1@example.com,plan 1,10
person3@example.com,plan 3,30
person4@example.com,,
person9@example.com,,90
`;

function importCustomers({ path, upstream }: Mirror): void {
  const store = openSegmentStore({ path, upstream, holder: 'the test' });
  store.import(readCustomers(CUSTOMERS), 'mia', minute(DAYS * DAY));
  store.close();
}

async function assertSameAsSql({ path, upstream }: Mirror): Promise<void> {
  const reader = openReportReader({ path, upstream });
  try {
    for (const [name, file] of Object.entries(IN_SQL) as [ReportName, string | null][])
      for (const zone of ['UTC', 'Asia/Kathmandu'])
        for (const part of file === null ? [] : REQUESTS) {
          const request = requestOf(name, { now: minute(DAYS * DAY), timeZone: zone, ...part });
          const { rows, columns } = await runReport(reader, name, request);
          const sql = readFileSync(new URL(`./sql/${file}.sql`, import.meta.url), 'utf8');
          const meant = (await reader.rows(sql, await boundFor(reader, name, request))).map((row) =>
            Object.fromEntries(
              columns.map(({ name: column, kind }) => [
                column,
                kind === 'trend' ? (JSON.parse(String(row[column])) as number[]) : (row[column] ?? null),
              ]),
            ),
          );
          assert.deepEqual(rows, meant, `${name} ${JSON.stringify(request)}`);
        }
  } finally {
    await reader.close();
  }
}

/** Only what the report takes. */
function requestOf(name: ReportName, request: ReportRequest): ReportRequest {
  const { takes } = REPORTS[name];
  const taken = { ...request };
  for (const flag of ['since', 'until', 'board', 'limit'] as const)
    if (!(takes as readonly string[]).includes(flag)) delete taken[flag];
  return taken;
}

async function boundFor(reader: ReportReader, name: ReportName, request: ReportRequest) {
  const definition: Definition = REPORTS[name];
  const calendar = calendarOf(request.timeZone);
  const period = periodOf(definition, request, calendar);
  const watched = await reader.watched();
  const { since, until } = period;
  const from = definition.history ? coverage(watched, period).from : null;
  const asking = { until, watched, now: request.now, calendar };
  const weeks =
    since === null
      ? []
      : watchedBuckets(bucketsOf('week', { since, until, watchedFrom: from ?? since }, calendar), asking);
  const minutes = (time: string): string => time.slice(0, 16);
  const { customers } = await reader.customers('plan');
  return {
    now: new Date(request.now).toISOString(),
    since: since ?? '',
    until,
    weeks: JSON.stringify(weeks.map((w) => ({ ...w, begins: minutes(w.begins), ends: minutes(w.ends) }))),
    slot: 16,
    from,
    observed: watched.first,
    last: watched.last,
    last_comments: watched.comments,
    board: request.board === undefined ? null : Number(request.board),
    statuses: '[]',
    limit: request.limit ?? 20,
    delivered: '[3]',
    finished: '[3]',
    segments: JSON.stringify(customers),
  };
}

/** An upstream in which everything that can happen to rows does. */
function createWorld(random: Random) {
  const names = ['Open', 'Planned', 'Done'];
  const posts = new Map<number, Record<string, unknown>>();
  const comments = new Map<number, Record<string, unknown>>();
  const gone = new Set<string>();
  const person = (id: number) => ({
    ...wire.user,
    ...{
      id,
      name: `Person ${id}`,
      email: `person${id}@example.com`,
      is_admin: false,
      is_team: id === PEOPLE,
    },
  });
  const board = (id: number) => ({ id, name: `Board ${id}`, url: `/b/board-${id}/` });
  const status = (id: number) => ({ id, name: names[id - 1] ?? '', color: '#111111' });
  const some = (): Record<string, unknown> => ({ creator: person(1 + random.int(PEOPLE)) });
  const when = (day: number): string =>
    new Date(minute((day - random.int(5)) * DAY + random.int(DAY))).toISOString();
  const state = () => ({
    board: board(1 + random.int(2)),
    status: status(1 + random.int(3)),
    votes_count: random.int(9),
    comments_count: random.int(3),
  });
  const alive = <T>(
    kind: string,
    rows: Map<number, Record<string, unknown>>,
    make: (id: number, row: object) => T,
  ) => [...rows].filter(([id]) => !gone.has(`${kind} ${id}`)).map(([id, row]) => make(id, row));
  return {
    random,
    change(day: number): void {
      for (let n = 0; n < 6; n++) {
        // Also between the numbers that are there already.
        const id = 1 + random.int(200);
        if (!posts.has(id)) posts.set(id, { ...state(), ...some(), title: `Post ${id}`, created: when(day) });
        const on = random.pick([...posts.keys()]);
        const post = { id: random.chance(0.1) ? 999 : on, title: 'Post', url: `/p/${on}/` };
        const rest = { created: when(day), internal: random.chance(0.3), post };
        comments.set(1 + random.int(300), { kind: 'reply', status: null, ...some(), ...rest });
      }
      for (const [id, row] of posts) {
        if (random.chance(0.3)) Object.assign(row, state());
        if (random.chance(0.1)) gone.add(`post ${id}`);
        else if (random.chance(0.3)) gone.delete(`post ${id}`);
      }
      for (const id of comments.keys()) {
        if (random.chance(0.1)) gone.add(`comment ${id}`);
        else if (random.chance(0.3)) gone.delete(`comment ${id}`);
      }
      if (day === 12) names[1] = 'Soon';
    },
    posts: (): Post[] => alive('post', posts, (id, row) => aPost(id, { ...row })),
    comments: (): Comment[] => alive('comment', comments, (id, row) => aComment(id, { ...row })),
  };
}
