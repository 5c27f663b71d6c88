import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { calendarOf } from '../../src/reports/moment.ts';
import { readOverview } from '../../src/reports/overview.ts';
import type { Row } from '../../src/reports/report.ts';
import { openReportReader } from '../../src/reports/store.ts';
import { createRandom } from '../../src/sandbox/random.ts';
import { readCustomers } from '../../src/segments/file.ts';
import { openSegmentStore } from '../../src/segments/store.ts';
import { aComment, aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { survivalByHand, type Time } from './by-hand.ts';
import {
  createLedger,
  DAY,
  type Gain,
  gainsOf,
  type Ledger,
  type Look,
  type Post,
  staysOf,
} from './ledger.ts';
import { ANN, pick, type Story, TESS, UPSTREAM, write } from './story.ts';

const STATUSES = ['Open', 'Planned', 'Done'];
const UTC = calendarOf('UTC');
const MINUTE = 60_000;
const START = Date.parse('2026-01-01T00:00:00.000Z');

interface Told {
  ledger: Ledger;
  story: Story;
  ask: Story['ask'];
}

/** The mirror of a ledger, by sweeps at its looks. */
async function tellLedger(t: TestContext, seed: number): Promise<Told> {
  const ledger = createLedger(createRandom(seed));
  const row = ({ id, created, creator, board, status, votes }: Post) =>
    aPost(id, {
      ...{
        creator: creator === 1 ? ANN : TESS,
        votes_count: votes,
        created: new Date(created).toISOString(),
      },
      board: { id: board, name: `Board ${board}`, url: `/b/board-${board}/` },
      status: { id: status, name: STATUSES[status - 1] ?? '', color: '#111111' },
    });
  const story = await write(t, async (store) => {
    for (const { at, posts } of ledger.looks)
      await sweep(store, 'posts', [...posts.values()].map(row), (at - START) / MINUTE, {
        acceptDeletes: true,
      });
    const replies = ledger.replies.map(({ id, post, at }) =>
      aComment(id, {
        ...{ creator: TESS, internal: false, created: new Date(at).toISOString() },
        post: { id: post, title: 'Post', url: `/p/${post}/` },
      }),
    );
    await sweep(store, 'comments', replies, ((ledger.looks.at(-1)?.at ?? 0) - START) / MINUTE);
  });
  return { ledger, story, ask: (name, request = {}) => story.ask(name, { now: ledger.now, ...request }) };
}

const text = (at: number): string => new Date(at).toISOString();
const total = (gains: readonly Gain[]): number => gains.reduce((sum, { votes }) => sum + votes, 0);
const within = (gains: readonly Gain[], from: number, until: number): Gain[] =>
  gains.filter(({ at }) => at >= from && at < until);

/** What a week of the report votes has to say, from the looks alone. */
function weekByHand({ looks }: Ledger, gains: readonly Gain[], begins: number, board: number | null) {
  const ends = begins + 7 * DAY;
  const isLook = ({ at }: Look): boolean => at >= begins && at < ends;
  if (!looks.some(isLook)) return { votes: null, gained: null, votes_deleted: null };
  const isHere = (on: number): boolean => board === null || on === board;
  const end = looks.findLast(({ at }) => at < ends);
  const standing = [...(end?.posts.values() ?? [])].filter((post) => isHere(post.board));
  const gone = looks.map((look, i) => {
    const before = [...(looks[i - 1]?.posts.values() ?? [])];
    return isLook(look) ? before.filter(({ id, board: on }) => !look.posts.has(id) && isHere(on)) : [];
  });
  return {
    votes: standing.reduce((sum, { votes }) => sum + votes, 0),
    gained: total(within(gains, begins, ends).filter(({ board: on }) => isHere(on))),
    votes_deleted: gone.flat().reduce((sum, { votes }) => sum + votes, 0),
  };
}

for (const seed of [1, 2])
  test(`the figures of a ledger with pauses, deletions, moves and finished posts (${seed})`, async (told) => {
    const { ledger, story, ask } = await tellLedger(told, seed);

    await told.test(
      'votes are one figure for a week in every report, and no figure where nobody looked',
      async () => {
        const gains = gainsOf(ledger);
        const since = '2026-01-05';
        for (const board of [null, 1]) {
          const scope = board === null ? {} : { board: String(board) };
          const { rows } = await ask('votes', { since, ...scope });
          for (const row of rows) {
            const begins = Date.parse(String(row.week));
            const meant = weekByHand(ledger, gains, begins, board);
            assert.partialDeepStrictEqual(row, meant, String(row.week));
            const alone = await ask('votes', {
              since: String(row.week),
              until: text(begins + 7 * DAY),
              ...scope,
            });
            assert.partialDeepStrictEqual(alone.rows, [meant], `${row.week} by itself`);
          }
          assert.ok(rows.some(({ gained }) => gained === null));
          const overview = await ask('overview', { since, ...scope });
          const sum = rows.reduce((all, { gained }) => all + Number(gained ?? 0), 0);
          assert.equal(overview.rows[1]?.recent, sum);
          const page = await readPage(story, ledger, since, scope);
          assert.equal(
            page.newVotes.reduce((all: number, votes) => all + (votes ?? 0), 0),
            sum,
          );
          assert.equal(page.figures.votes.recent, sum);
        }
      },
    );

    await told.test(
      'days and weeks say since when the mirror watches, where it paused and what is not over',
      async () => {
        const page = await readPage(story, ledger, '2025-12-28', {});
        assert.equal(page.watching.since, text(ledger.looks[0]?.at ?? 0));
        assert.deepEqual(
          page.watching.gaps,
          ledger.looks.flatMap(({ at }, i) => {
            const before = ledger.looks[i - 1]?.at ?? at;
            return at - before > 2 * DAY ? [{ from: text(before), until: text(at) }] : [];
          }),
        );
        for (const [i, day] of page.times.entries()) {
          const begins = Date.parse(day);
          const look = ledger.looks.find(({ at }) => at >= begins && at < begins + DAY);
          const last = ledger.looks.findLast(({ at }) => at < begins);
          assert.equal(page.newVotes[i] === null, look === undefined, day);
          const isPause = look !== undefined && last !== undefined && last.at < begins - DAY;
          assert.equal(page.buckets[i]?.sinceLook ?? null, isPause ? UTC.clockAt(text(last.at)) : null, day);
        }
        const week = (await story.ask('votes', { now: ledger.now, since: '2026-01-05' })).watching.unfinished;
        assert.equal(week, '2026-02-09');
      },
    );

    await told.test(
      'posts gain what was seen to come, and finished ones are left out of rankings unless asked',
      async () => {
        const [since, until] = ['2026-01-08', '2026-01-29'];
        const gains = within(gainsOf(ledger), Date.parse(since), Date.parse(until));
        const last = ledger.looks.at(-1)?.posts ?? new Map<number, Post>();
        for (const includeClosed of [undefined, true]) {
          const meant = [...Map.groupBy(gains, ({ post }) => post)]
            .map(([post, own]) => ({ post, gained: total(own) }))
            .filter(
              ({ post, gained }) =>
                gained > 0 && last.has(post) && (includeClosed || last.get(post)?.status !== 3),
            );
          const { rows } = await ask('gaining-posts', { since, until, limit: 1000, includeClosed });
          assert.deepEqual(
            rows.map(({ post, gained }) => ({ post, gained })).sort(byPost),
            meant.sort(byPost),
          );
        }
      },
    );

    await told.test(
      'climbers are those whose gain is the least likely beside other posts of their board and age',
      async () => {
        const since = '2026-01-20';
        const report = await ask('climbers', { since, includeClosed: true, limit: 1000 });
        const meant = climbersByHand(ledger, Date.parse(since));
        assert.deepEqual(pick(report, 'post', 'gained', 'usual'), meant);
        assert.ok(meant.every(([, gained]) => Number(gained) >= 3));
      },
    );

    await told.test('times in a status count those that are not over, by board too', async () => {
      for (const since of [undefined, '2026-01-20'])
        for (const by of [undefined, 'board']) {
          const { rows } = await ask('time-in-status', { since, by });
          assert.deepEqual(sorted(rows), sorted(timesByHand(ledger, since, by)));
        }
    });

    await told.test('first replies count those that still wait, by board too', async () => {
      const { rows } = await ask('first-reply', { since: '2025-12-15', by: 'board' });
      assert.deepEqual(sorted(rows), sorted(repliesByHand(ledger, Date.parse('2025-12-15'))));
    });

    await told.test('two periods side by side have the figures of each', async () => {
      const [before, since, until] = ['2026-01-24', '2026-01-31', '2026-02-07'];
      const { rows } = await ask('gaining-posts', {
        ...{ since, until, against: 'previous', includeClosed: true, limit: 1000 },
      });
      const gainedIn = (post: unknown, from: string, to: string): number =>
        total(within(gainsOf(ledger), Date.parse(from), Date.parse(to)).filter((gain) => gain.post === post));
      assert.ok(rows.length > 5);
      for (const row of rows) {
        const then = gainedIn(row.post, before, since);
        assert.deepEqual(
          [row.gained, row.gained_before],
          [gainedIn(row.post, since, until), then > 0 ? then : null],
        );
      }
    });

    await told.test('a segment has the votes of the posts that its people wrote', async (t) => {
      await importPro(t, story);
      const authors = new Map(
        ledger.looks.flatMap(({ posts }) => [...posts].map(([id, post]) => [id, post.creator])),
      );
      const gains = gainsOf(ledger).filter(({ post }) => authors.get(post) === ANN.id);
      const { rows } = await ask('votes', { since: '2026-01-05', segment: 'plan=Pro' });
      for (const { week, gained } of rows) {
        const begins = Date.parse(`${week}T00:00:00.000Z`);
        assert.equal(gained ?? 0, total(within(gains, begins, begins + 7 * DAY)), String(week));
      }
    });

    await told.test('list as shipped what was seen to become done, with who asked for it', async () => {
      const since = '2026-01-20';
      const done = staysOf(ledger).filter(
        ({ status, began, ended }) => status === 3 && ended === null && (began ?? 0) >= Date.parse(since),
      );
      const last = ledger.looks.at(-1)?.posts;
      const seen = done.filter(({ post, began }) => {
        const { creator, created } = last?.get(post) ?? {};
        // A post that was done when it was first seen was not seen to become it.
        return creator === ANN.id && began !== created;
      });
      const { rows } = await ask('shipped', { since });
      assert.ok(seen.length > 0);
      assert.deepEqual(
        rows.map(({ email, posts, post_ids }) => [email, posts, post_ids]),
        [
          [
            ANN.email,
            seen.length,
            seen
              .map(({ post }) => post)
              .sort((a, b) => a - b)
              .join(' '),
          ],
        ],
      );
    });
  });

async function importPro(t: TestContext, { path }: Story): Promise<void> {
  const store = openSegmentStore({ path, upstream: UPSTREAM, holder: 'the test' });
  t.after(() => store.close());
  store.import(readCustomers(`email,plan\n${ANN.email},Pro\n`), 'mia', START);
}

function byPost(a: { post?: unknown }, b: { post?: unknown }): number {
  return Number(a.post) - Number(b.post);
}

function sorted(rows: readonly object[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
}

async function readPage({ path }: Story, { now }: Ledger, since: string, scope: { board?: string }) {
  const reader = openReportReader({ path, upstream: UPSTREAM });
  try {
    return await readOverview(reader, { now, timeZone: 'UTC', since, ...scope });
  } finally {
    await reader.close();
  }
}

/** The usual gain of every post, each compared with each other one. */
function climbersByHand(ledger: Ledger, from: number): [post: number, gained: number, usual: number][] {
  const until = (ledger.looks.at(-1)?.at ?? 0) + 1;
  const gains = within(gainsOf(ledger), from, until);
  const edges = [0, 7, 30, 90, 365, 1e9].map((days) => days * DAY);
  const classes = edges.slice(1).map((end, i) => ({ begin: edges[i] ?? 0, end }));
  // Deleted posts were watched too, as they were last seen.
  const everybody = [...new Map(ledger.looks.flatMap(({ posts }) => [...posts])).values()];
  const days = ({ created }: Post, { begin, end }: { begin: number; end: number }): number =>
    Math.max(0, Math.min(until, created + end) - Math.max(from, created + begin)) / DAY;
  const gained = (posts: readonly Post[], { begin, end }: { begin: number; end: number }): number => {
    const ids = new Set(posts.map(({ id }) => id));
    return total(gains.filter(({ post, age }) => ids.has(post) && age >= begin && age < end));
  };
  const living = [...(ledger.looks.at(-1)?.posts.values() ?? [])];
  const usual = (post: Post): number =>
    classes.reduce((sum, ages) => {
      const others = everybody.filter(({ id }) => id !== post.id);
      const own = others.filter(({ board }) => board === post.board);
      const exposure = (posts: readonly Post[]): number =>
        posts.reduce((all, one) => all + days(one, ages), 0);
      const overall = (Math.max(0, gained(others, ages)) + 0.5) / (exposure(others) + 90);
      const rate = (Math.max(0, gained(own, ages)) + overall * 90) / (exposure(own) + 90);
      const isLast = until - post.created >= ages.begin && until - post.created < ages.end;
      const lacking = isLast ? Math.max(0, 1 - (until - Math.max(from, post.created)) / DAY) : 0;
      return sum + rate * (days(post, ages) + lacking);
    }, 0);
  return living
    .map((post) => ({ post, gain: total(gains.filter((one) => one.post === post.id)), meant: usual(post) }))
    .filter(({ gain, meant }) => gain >= 3 && gain > meant)
    .map((one) => ({ ...one, odds: one.gain * Math.log(one.gain / one.meant) - (one.gain - one.meant) }))
    .sort((a, b) => b.odds - a.odds || b.gain - a.gain)
    .map(({ post, gain, meant }) => [post.id, gain, Number(meant.toFixed(2))]);
}

const whole = (seconds: number | null): number | null => (seconds === null ? null : Math.round(seconds));

function timesByHand(ledger: Ledger, since: string | undefined, by: string | undefined): Row[] {
  const [first, last] = [ledger.looks[0]?.at ?? 0, ledger.looks.at(-1)?.at ?? 0];
  const from = Math.max(first, since === undefined ? 0 : Date.parse(since));
  const living = ledger.looks.at(-1)?.posts ?? new Map<number, Post>();
  const stays = staysOf(ledger).map((stay) => {
    const post = living.get(stay.post);
    // New posts begin as Open: one that was Open at first was so since it was made.
    const began = stay.began ?? (stay.status === 1 ? (post?.created ?? 0) : null);
    const start = began ?? first;
    const until = Math.min(stay.ended ?? last, last);
    const isWatched = until > from || (until === from && start === from);
    const time: Time = {
      entered: (Math.max(start, from) - start) / 1000,
      left: (until - start) / 1000,
      ended: stay.ended !== null && began !== null,
    };
    return { ...stay, board: post?.board, isWatched, time };
  });
  const boards = by === undefined ? [null] : [1, 2];
  return boards.flatMap((board) =>
    STATUSES.flatMap((status, i): Row[] => {
      const isOne = (one: { status: number; board?: number | undefined }): boolean =>
        one.status === i + 1 && (board === null || one.board === board);
      const own = stays.filter((stay) => isOne(stay) && stay.isWatched);
      const { posts, median, p90, atLeast } = survivalByHand(own.map(({ time }) => time));
      const now = [...living.values()].filter(isOne).length;
      if (posts + now === 0) return [];
      const ended = own.filter((stay) => stay.ended !== null).length;
      const times = { posts, median: whole(median), at_least: whole(atLeast), p90: whole(p90) };
      return [
        { ...(board === null ? {} : { board: `Board ${board}` }), status, ...times, ended, now_in_it: now },
      ];
    }),
  );
}

function repliesByHand(ledger: Ledger, since: number): Row[] {
  const last = ledger.looks.at(-1)?.at ?? 0;
  const posts = [...(ledger.looks.at(-1)?.posts.values() ?? [])].filter(
    ({ created, creator }) => creator === 1 && created >= since,
  );
  const row = (board: string, own: readonly Post[]): Row => {
    const waits = own.map(({ id, created }) => {
      const reply = ledger.replies.find(({ post }) => post === id);
      return {
        entered: 0,
        left: Math.floor((reply?.at ?? last) / 1000) - Math.floor(created / 1000),
        ended: reply !== undefined,
      };
    });
    const answered = waits.filter(({ ended }) => ended).length;
    const { median, p90, atLeast } = survivalByHand(waits);
    return {
      board,
      posts: own.length,
      answered,
      share: answered / own.length,
      median,
      at_least: atLeast,
      p90,
    };
  };
  const boards = [1, 2].map((board) =>
    row(
      `Board ${board}`,
      posts.filter((post) => post.board === board),
    ),
  );
  return [...boards, row('all boards', posts)];
}
