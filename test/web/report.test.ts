import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReportAnswer } from '../../src/http/dashboard/reports.ts';
import type { ReportColumn, Row } from '../../src/reports/report.ts';
import { changeText, date } from '../../src/web/format.ts';
import { h } from '../../src/web/h.ts';
import { Working } from '../../src/web/pages/report.ts';
import { timeOptions } from '../../src/web/pages/report-chart.ts';
import type { ReportChoice } from '../../src/web/pages/report-filters.ts';
import { NAMES } from '../../src/web/pages/report-filters.ts';
import { columnsOf, postsBehind } from '../../src/web/pages/report-table.ts';
import { timeChart } from '../../src/web/parts/chart.ts';
import { table } from '../../src/web/parts/table.ts';
import { until } from '../support/until.ts';
import { drawing } from './document.ts';

const NOTHING_CHOSEN = Object.fromEntries(NAMES.map((name) => [name, null])) as ReportChoice;
const KNOWN = {
  boards: [{ slug: 'bugs', name: 'Bugs' }],
  statuses: [{ id: 3, name: 'Planned' }],
};
const column = (name: string, kind: ReportColumn['kind']): ReportColumn => ({ name, kind });

function answerOf(columns: ReportColumn[], rows: Row[], given: Partial<ReportAnswer> = {}): ReportAnswer {
  return {
    ...{ columns, rows, timeZone: 'UTC', since: null, name: 'boards', title: 'A report' },
    watching: { since: null, unfinished: null },
    ...given,
  } as unknown as ReportAnswer;
}

interface Asked {
  chosen?: Partial<ReportChoice>;
  given?: Partial<ReportAnswer>;
}

function drawnTable(columns: ReportColumn[], rows: Row[], { chosen = {}, given = {} }: Asked = {}) {
  const { root, draw } = drawing();
  const answer = answerOf(columns, rows, given);
  const links = postsBehind({ ...KNOWN, answer, chosen: { ...NOTHING_CHOSEN, ...chosen } });
  const shown = columnsOf(answer, { sort: null, sortedBy: () => '#', links });
  draw(table({ columns: shown, rows, label: 'Rows' }));
  return root;
}

/** Where the links of a drawn table lead, with their texts. */
function linksOf(columns: ReportColumn[], rows: Row[], asked: Asked = {}) {
  return drawnTable(columns, rows, asked)
    .all('a')
    .flatMap((link) => {
      const href = link.attribute('href');
      return href === '#' ? [] : [[href, link.text, link.attribute('class') ?? '']];
    });
}

const POSTS = column('posts', 'integer');
const OF_ALL_TIME: ReportColumn = { ...POSTS, allTime: true };
const SINCE = '2026-11-11T10:00:00.000Z';

describe('a row of a report', () => {
  it('leads to the posts of its board or status, with the filters that were chosen', () => {
    const columns = [column('board', 'text'), POSTS, column('votes', 'integer')];
    const chosen = { status: '3' };
    assert.deepEqual(linksOf(columns, [{ board: 'Bugs', posts: 4, votes: 9 }], { chosen }), [
      ['/posts?board=bugs&status=3', 'Bugs', 'row-link'],
      ['/posts?board=bugs&status=3', '4', ''],
      ['/posts?board=bugs&status=3&sort=votes', '9', ''],
    ]);
    const segments = [column('segment', 'text')];
    assert.equal(linksOf(segments, [{ segment: 'Pro' }])[0]?.[0], '/posts?segment=plan%3DPro');
  });

  it('keeps the period where its posts are those of the period', () => {
    const to = (counted: ReportColumn, asked: Asked): unknown =>
      linksOf([column('board', 'text'), counted], [{ board: 'Bugs', posts: 4 }], asked)[1]?.[0];
    const given = { since: SINCE };
    const chosen = { since: '7d', tz: 'UTC' };
    assert.equal(to(POSTS, { given, chosen }), '/posts?board=bugs&since=7d&tz=UTC');
    assert.equal(to(POSTS, { given }), `/posts?board=bugs&since=${encodeURIComponent(SINCE)}`);
    assert.equal(to(OF_ALL_TIME, { given, chosen }), '/posts?board=bugs');
  });

  it('leads to the posts of its week, as far as the week is in the period', () => {
    const weeks = ['2026-11-09', '2026-11-16'].map((week) => ({ week, posts: 1 }));
    const chosen = { since: '9d', until: '2026-11-18', tz: 'UTC' };
    const hrefs = linksOf([column('week', 'date'), POSTS], weeks, { given: { since: SINCE }, chosen })
      .filter(([, text]) => text === '1')
      .map(([href]) => decodeURIComponent(String(href)));
    assert.deepEqual(hrefs, [
      `/posts?since=${SINCE}&until=2026-11-16&tz=UTC`,
      '/posts?since=2026-11-16&until=2026-11-18&tz=UTC',
    ]);
  });

  it('leads to the posts that are in the status now, where others count that were in it', () => {
    const columns = [column('status', 'text'), POSTS, { ...OF_ALL_TIME, name: 'now_in_it' }];
    const rows = [{ status: 'Planned', posts: 9, now_in_it: 4 }];
    assert.deepEqual(linksOf(columns, rows, { given: { since: SINCE } }), [
      ['/posts?status=3', 'Planned', 'row-link'],
      ['/posts?status=3', '4', ''],
    ]);
  });

  it('leads to its post or its person, whose address stands under the name', () => {
    const post = [column('post', 'post'), column('title', 'text'), column('votes', 'integer')];
    assert.deepEqual(linksOf(post, [{ post: 7, title: 'Dark mode', votes: 1 }]), [
      ['/posts/7', '#7', ''],
      ['/posts/7', 'Dark mode', 'row-link'],
    ]);
    const names = ['posts', 'comments', 'votes'].map((name) => column(name, 'integer'));
    const people = [column('customer', 'text'), column('email', 'text'), ...names];
    const ada = { customer: 'Ada', email: 'ada@example.com', posts: 2, comments: 3, votes: 4 };
    assert.deepEqual(linksOf(people, [ada], { given: { people: [5] } }), [
      ['/people/5', 'Ada', 'row-link'],
      ['/posts?creator=5', '2', ''],
      ['/people/5', '3', ''],
      ['/posts?creator=5&sort=votes', '4', ''],
    ]);
  });

  it('has a bar where it is a post, and none where a chart above has it', () => {
    const votes = { ...column('votes', 'integer'), bar: true as const };
    const barsOf = (columns: ReportColumn[], row: Row): number =>
      drawnTable(columns, [row])
        .all('span')
        .filter((span) => span.attribute('class')?.includes('thin')).length;
    assert.equal(barsOf([column('board', 'text'), votes], { board: 'Bugs', votes: 9 }), 0);
    assert.equal(barsOf([column('post', 'post'), votes], { post: 7, votes: 9 }), 1);
  });

  it('shows no column that has nothing in any row', () => {
    const columns = [column('customer', 'text'), column('plan', 'text'), POSTS];
    const root = drawnTable(columns, [{ customer: 'Ada', plan: null, posts: 0 }]);
    assert.equal(root.all('th').length, 2);
  });
});

describe('a chart', () => {
  it('says that figures are unknown where they are, and that nothing happened where all are zero', () => {
    const shown = (values: (number | null)[]): string => {
      const { root, draw } = drawing();
      const series = [{ label: 'n', kind: 'bars' as const, values }];
      draw(timeChart({ title: 'T', unit: 'n', times: ['2026-11-09', '2026-11-16'], series }));
      return root.text;
    };
    assert.match(shown([null, null]), /too few/);
    assert.match(shown([0, null]), /Nothing in this period/);
  });

  it('is not drawn of one moment', () => {
    const columns: ReportColumn[] = [column('at', 'time'), { ...column('votes', 'integer'), bar: true }];
    const moments = ['2026-11-09T00:00:00Z', '2026-11-10T00:00:00Z'].map((at) => ({ at, votes: 1 }));
    assert.equal(timeOptions(answerOf(columns, moments.slice(1))), null);
    assert.equal(timeOptions(answerOf(columns, moments))?.times.length, 2);
  });
});

it('a month is the same in every zone, and a change has its sign', () => {
  assert.equal(date('2026-11', 'Pacific/Kiritimati'), date('2026-11', 'Pacific/Pago_Pago'));
  assert.doesNotMatch(date('2026-11'), /\b1\b/);
  assert.deepEqual(
    [changeText(0.24), changeText(0)].map((text) => text.replace(/\s/, '')),
    ['+24%', '0%'],
  );
});

it('a long report says how far it is, and Cancel ends it at the service until somebody begins it again', async (t) => {
  const asked: string[] = [];
  t.mock.method(globalThis, 'fetch', async (path: string) => {
    asked.push(path);
    return new Response('{}');
  });
  const { root, draw } = drawing();
  draw(h(Working, { working: { isWorking: true, share: 0.25 }, reload: async () => undefined }));
  assert.match(root.text, /25% done\./);
  root.one('button', 'Cancel').fire('click');
  await until('the word', async () => root.text.startsWith('Cancelled.'));
  assert.deepEqual(asked, ['/data/reports/cancel']);
  root.one('button', 'Begin again').fire('click');
  await until('the share', async () => root.text.includes('25%'));
});
