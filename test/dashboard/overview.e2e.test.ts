import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { OverviewAnswer } from '../../src/http/dashboard/reports.ts';
import { keepAnswers } from '../../src/http/dashboard/reports.ts';
import { readOverview } from '../../src/reports/overview.ts';
import { openReportReader } from '../../src/reports/store.ts';
import { detailOf } from '../http/client.ts';
import { NOW, pick, tell, UPSTREAM } from '../reports/story.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { until } from '../support/until.ts';
import { openOnMirror } from './site.ts';

/** The story of the reports, asked as the first page asks it. */
async function overviewOf(
  t: TestContext,
  { sweeps, ...request }: { sweeps?: number; since?: string; board?: string },
) {
  const story = await tell(t, sweeps === undefined ? {} : { sweeps });
  const reader = openReportReader({ path: story.path, upstream: UPSTREAM });
  t.after(() => reader.close());
  return { story, overview: await readOverview(reader, { now: NOW, timeZone: 'UTC', ...request }) };
}

describe('the overview', () => {
  it('has the totals, what was new, and the same of the period before', async (t) => {
    // 31 January, 14 days back: the 17th; the period before it begins on the 3rd.
    const { overview } = await overviewOf(t, { since: '14d' });
    // 101 to 106 without 103, which is gone; 105 was written on the 3rd.
    assert.deepEqual(overview.figures.posts, { total: 5, recent: 0, prior: 1 });
    // Seen on the 21st: 101 from 12 to 20. Before: 101 from 10 to 12, 102 from 5 to 8,
    // and 105 from none to 6.
    assert.deepEqual(overview.figures.votes, { total: 39, recent: 8, prior: 11 });
    assert.deepEqual(overview.figures.comments, { total: 6, recent: 1, prior: 3 });
    assert.deepEqual(overview.figures.customers, { total: null, recent: 1, prior: 1 });
  });

  it('says the same of votes as the reports, for any period and board', async (t) => {
    for (const since of ['5d', '14d', '21d', '27d'])
      for (const board of [undefined, 'features', 'bugs']) {
        const request = { since, ...(board ? { board } : {}) };
        const { story, overview } = await overviewOf(t, request);
        const [, votes] = pick(await story.ask('overview', request), 'total', 'recent', 'prior');
        const { total, recent, prior } = overview.figures.votes;
        assert.deepEqual([total, recent, prior], votes, JSON.stringify(request));
        const climbers = pick(
          await story.ask('climbers', { ...request, limit: 8 }),
          'post',
          'gained',
          'votes',
        );
        assert.deepEqual(
          overview.climbers.map(({ id, gained, votes: has }) => [id, gained, has]),
          climbers,
        );
      }
  });

  it('draws a short period by the day and a long one by the week', async (t) => {
    const { overview } = await overviewOf(t, { since: '14d' });
    assert.equal(overview.step, 'day');
    assert.deepEqual([overview.times.at(0), overview.times.at(-1)], ['2026-01-17', '2026-01-30']);
    const days = overview.times.filter((_, i) => overview.newVotes[i]);
    assert.deepEqual(days, ['2026-01-21']);
    const { overview: long } = await overviewOf(t, { since: '150d' });
    assert.equal(long.step, 'week');
    const weeks = long.times.flatMap((week, i) => (long.newPosts[i] ? [[week, long.newPosts[i]]] : []));
    // 1, 15, 20, 21 and 22 December and 3 January; 20 December is a post that is gone.
    assert.deepEqual(weeks, [
      ['2025-12-01', 1],
      ['2025-12-15', 2],
      ['2025-12-22', 1],
      ['2025-12-29', 1],
    ]);
  });

  it('leaves empty what the mirror did not watch, and says so', async (t) => {
    const { overview } = await overviewOf(t, { sweeps: 1 });
    assert.deepEqual(overview.figures.votes, { total: 22, recent: null, prior: null });
    assert.ok(overview.newVotes.every((votes) => votes === null));
    assert.deepEqual(overview.climbers, []);
    assert.match(overview.notes.join(' '), /has looked at the posts once/);
    const { overview: later } = await overviewOf(t, { since: '60d' });
    const first = later.newVotes.findIndex((votes) => votes !== null);
    assert.equal(later.times[first], '2026-01-01', 'the day on which the first sweep ended');
    assert.equal(later.figures.votes.prior, null);
  });

  it('counts by board and status in the colours of the statuses, and lists what waits', async (t) => {
    const { overview } = await overviewOf(t, { since: '60d' });
    assert.deepEqual(
      overview.byBoard.map(({ name, posts, votes }) => [name, posts, votes]),
      [
        ['Features', 4, 35],
        ['Bugs', 1, 4],
      ],
    );
    assert.deepEqual(
      overview.byStatus.map(({ name, color, posts }) => [name, color, posts]),
      [
        ['Open', '#111111', 2],
        ['Planned', '#222222', 2],
        ['Done', '#333333', 1],
      ],
    );
    assert.deepEqual(
      overview.unanswered.map(({ id, votes }) => [id, votes]),
      [
        [102, 8],
        [106, 4],
      ],
    );
    assert.equal(
      overview.firstReply.reduce((sum, { answered }) => sum + answered, 0),
      1,
      '105; 101 was written before the period, and 102 has an internal comment only',
    );
  });

  it('is served over HTTP, moves with the mirror, and refuses what makes no sense', async (t) => {
    const now = new Date().toISOString();
    const post = (votes: number) => aPost(1, { created: now, votes_count: votes });
    const site = await openOnMirror(t, async (store) => void (await sweep(store, 'posts', [post(2)], 0)));
    const first = await site.get<OverviewAnswer>('/data/overview');
    assert.equal(first.figures.votes.total, 2);
    await sweep(site.store, 'posts', [post(7)], 1);
    await until('the new votes', async () => {
      const { figures } = await site.get<OverviewAnswer>('/data/overview');
      return figures.votes.total === 7;
    });
    const refusal = await site.ask('/data/overview?board=nowhere');
    assert.equal(refusal.status, 400);
    assert.match(detailOf(refusal), /no board "nowhere"/);
    for (const query of ['since=yesterday', 'since=2026-13-01', 'since=1d&since=2d'])
      assert.equal((await site.ask(`/data/overview?${query}`)).status, 400, query);
  });
});

describe('answers that are kept', () => {
  const at = (state: { now: number }) => ({ ...systemClock, monotonic: () => state.now });

  it('are given again until the mirror changes or a minute has passed', async () => {
    const state = { now: 0, version: 1, computed: 0 };
    const answers = keepAnswers({
      compute: async () => ++state.computed,
      version: () => state.version,
      clock: at(state),
    });
    assert.equal((await answers.ask('a')).value, 1);
    assert.equal((await answers.ask('a')).value, 1);
    assert.equal((await answers.ask('b')).value, 2, 'another question');
    state.version = 2;
    assert.equal((await answers.ask('a')).value, 3);
    state.now = 61_000;
    assert.equal((await answers.ask('a')).value, 4);
  });

  it('are the last ones with their age where the newest take long, and one computation serves all', async () => {
    const state = { now: 0, version: 1 };
    const slow = Promise.withResolvers<string>();
    const results = [Promise.resolve('old'), slow.promise];
    // Nobody's patience lasts: the sleep is over at once.
    const clock = { ...at(state), sleep: async () => undefined };
    const answers = keepAnswers({
      compute: () => results.shift() ?? assert.fail('asked once more than needed'),
      version: () => state.version,
      clock,
    });
    await answers.ask('a');
    Object.assign(state, { now: 1000, version: 2 });
    for (const _ of [1, 2]) assert.deepEqual((await answers.ask('a')).value, 'old');
    slow.resolve('new');
    await until('the newest', async () => (await answers.ask('a')).value === 'new');
  });

  it('are not waited for by a page where they take long, and are there when it asks again', async () => {
    const slow = Promise.withResolvers<string>();
    const clock = { ...at({ now: 0 }), sleep: async () => undefined };
    const answers = keepAnswers({ compute: () => slow.promise, version: () => 1, clock });
    assert.deepEqual([await answers.soon('a'), await answers.soon('a')], [null, null]);
    slow.resolve('whole');
    await until('the answer', async () => (await answers.soon('a'))?.value === 'whole');
  });

  it('say what is wrong when they cannot be made, and are tried again', async () => {
    let isBroken = true;
    const compute = async (): Promise<string> => (isBroken ? assert.fail('broken') : 'whole');
    const answers = keepAnswers({ compute, version: () => 1, clock: systemClock });
    await assert.rejects(answers.ask('a'), /broken/);
    isBroken = false;
    assert.equal((await answers.ask('a')).value, 'whole');
  });

  it('are not computed again for ten times as long as that took', async () => {
    const state = { now: 0, version: 1, computed: 0 };
    const compute = async (): Promise<number> => {
      state.now += 1000;
      return ++state.computed;
    };
    const answers = keepAnswers({ compute, version: () => state.version, clock: at(state) });
    assert.equal((await answers.ask('a')).value, 1);
    state.version = 2;
    assert.equal((await answers.ask('a')).value, 1);
    state.now += 10_000;
    assert.equal((await answers.ask('a')).value, 2);
  });
});
