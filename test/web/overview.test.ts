import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import type { OverviewAnswer } from '../../src/http/dashboard/reports.ts';
import { page } from '../../src/web/pages/overview.ts';
import { page as sync } from '../../src/web/pages/sync.ts';
import { until } from '../support/until.ts';
import { serve, shown } from './page.ts';

const figure = { total: 10, recent: 4, prior: 2 };
const titled = { title: 'Dark mode', board: 'Bugs', status: 'Open', statusColor: '#00ff00', votes: 9 };
const OVERVIEW: OverviewAnswer = {
  ...{ since: '2026-11-09T00:00:00.000Z', until: '2026-11-18T12:00:00.000Z', timeZone: 'UTC', board: null },
  ...{ boards: [{ id: 1, slug: 'bugs', name: 'Bugs' }], isSwept: true, asOf: new Date().toISOString() },
  figures: { posts: figure, votes: figure, comments: figure, customers: figure },
  prior: { since: '2026-11-02T00:00:00.000Z', until: '2026-11-09T00:00:00.000Z' },
  watching: { since: '2026-11-16T00:00:00.000Z', gaps: [] },
  ...{ step: 'week', times: ['2026-11-09', '2026-11-16'], newPosts: [3, 1], newVotes: [null, 2] },
  buckets: [false, true].map((isUnfinished) => ({
    ...{ remark: null, isUnfinished, isWatched: isUnfinished, sinceLook: null },
  })),
  byBoard: [{ id: 1, name: 'Bugs', posts: 7 }],
  byStatus: [{ id: 3, name: 'Planned', posts: 7, color: '#00ff00' }],
  climbers: [{ id: 5, ...titled, gained: 4 }],
  unanswered: [{ id: 6, ...titled, waitingSeconds: 7200 }],
  firstReply: [],
  notes: [],
} as unknown as OverviewAnswer;

// A browser has them; without a width nothing is drawn on the canvas.
before(() => {
  Object.assign(globalThis, {
    ResizeObserver: class {
      observe(): void {}
      disconnect(): void {}
    },
    matchMedia: () => new EventTarget(),
  });
});

function open(t: TestContext, address: string, given: Partial<OverviewAnswer> = {}) {
  const customers = { columns: [], filters: [] };
  serve(t, { '/data/overview': { ...OVERVIEW, ...given }, '/data/segments/choices': customers });
  return shown(page, address);
}

describe('the overview', () => {
  it('has its period in every link, but where a card says that it counts all time', async (t) => {
    const { root } = await open(t, '/?since=7d&board=bugs');
    for (const section of root.all('section')) {
      const isOfAllTime = section.text.includes('all time');
      const lists = section
        .all('a')
        .map((link) => link.attribute('href') ?? '')
        .filter((href) => href.startsWith('/posts?') && !href.includes('sort='));
      for (const href of lists) assert.equal(href.includes('since='), !isOfAllTime, href);
    }
    const notes = root.all('header').map(({ text }) => text);
    assert.equal(notes.filter((text) => text.includes('posts, all time')).length, 2);
    assert.ok(notes.some((text) => text.startsWith('New posts') && text.includes('posts a week')));
  });

  it('leads from each figure to the posts behind it', async (t) => {
    const { links } = await open(t, '/?since=7d');
    for (const href of [
      '/posts?since=7d',
      '/reports/gaining-posts?since=7d&closed=1',
      '/posts?since=2026-11-16&until=2026-11-23&tz=UTC',
      '/posts?status=3',
      '/boards/bugs',
      '/posts/5',
    ])
      assert.ok(links().includes(href), `${href} is not in ${links().join(' ')}`);
  });

  it('marks the week that is not over, and knows no votes from before the mirror watched', async (t) => {
    const { root } = await open(t, '/');
    const rows = root.all('tr').map(({ text }) => text);
    const weeks = rows.filter((text) => /16|9 Nov|Nov 9/.test(text));
    assert.deepEqual(
      weeks.map((text) => text.includes('(so far)')),
      [false, true, false, true],
    );
    assert.ok(weeks[2]?.endsWith('–'), 'unknown is not zero');
    assert.match(root.text, /watched since/);
  });

  it('says how figures changed, and that a change is not known yet', async (t) => {
    const unknown = { ...figure, recent: null };
    const { root } = await open(t, '/', { figures: { ...OVERVIEW.figures, votes: unknown } });
    const [posts, votes] = root.all('b').map((total) => total.parentNode?.text ?? '');
    assert.match(posts ?? '', /^Posts104 new, \+100\s?%$/);
    assert.equal(votes, 'Votes10change not known yet');
  });

  it('tells a mirror that has read nothing from a service without posts', async (t) => {
    const none = { ...figure, total: 0 };
    const figures = { ...OVERVIEW.figures, posts: none };
    assert.match((await open(t, '/', { figures, isSwept: false })).root.text, /Nothing is mirrored yet/);
    t.mock.restoreAll();
    assert.match((await open(t, '/', { figures })).root.text, /The service has no posts/);
  });
});

describe('the page of the passes', () => {
  const now = Date.parse('2026-11-18T12:00:00.000Z');
  const list = {
    ...{
      resource: 'posts',
      live: 700,
      deleted: 5,
      held: 0,
      suspects: 0,
      quarantined: 0,
      notes: [] as string[],
    },
    ...{ lastSweepAt: null, lastHeadAt: null, sweepDueAt: now + 120_000, unfinished: true, running: null },
  };
  const state = (given: object, queue: object = {}) => ({
    '/data/sync': {
      ...{ upstream: '', runs: [], health: { checks: [] }, now, lists: [{ ...list, ...given }] },
      queue: { kind: 'embedded', reachable: true, depth: [], ...queue },
    },
  });

  it('says what is due, and that a broken sweep goes on, unless one runs', async (t) => {
    serve(t, state({}));
    const idle = await shown(sync, '/sync');
    assert.match(idle.root.text, /Next sweepin 2 min/);
    assert.match(idle.root.text, /the next sweep continues where it stopped/);
    t.mock.restoreAll();
    serve(t, state({ running: { mode: 'sweep', since: now - 60_000 }, sweepDueAt: now - 1 }));
    const busy = await shown(sync, '/sync');
    assert.match(busy.root.text, /sweep for 60 s/);
    assert.match(busy.root.text, /due now/);
    assert.doesNotMatch(busy.root.text, /continues where it stopped/);
  });

  it('asks the service for the pass that a person chose', async (t) => {
    const sent = serve(t, state({}));
    const { root } = await shown(sync, '/sync');
    root.one('button', 'Read the whole list').fire('click');
    await until('the answer', async () => root.text.includes('A sweep of the posts was requested'));
    assert.deepEqual(sent, [{ path: '/data/sync/posts/run', body: { mode: 'sweep' } }]);
  });

  it('shows held deletions before everything else', async (t) => {
    serve(t, state({ held: 78 }));
    const { root } = await shown(sync, '/sync');
    assert.match(root.all('section')[0]?.text ?? '', /^78 deletions of posts held.*78 of 700 rows/);
  });

  it('tells an empty queue from one that does not answer', async (t) => {
    for (const [queue, words] of [
      [{}, 'The embedded queue is empty.'],
      [{ reachable: false }, 'The embedded queue does not answer.'],
      [{ kind: null }, 'The queue is still being opened.'],
    ] as const) {
      serve(t, state({}, queue));
      assert.ok((await shown(sync, '/sync')).root.text.includes(words), words);
      t.mock.restoreAll();
    }
  });
});
