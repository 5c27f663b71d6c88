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

function answerOf(columns: ReportColumn[], rows: Row[]): ReportAnswer {
  const watching = { since: null, unfinished: null };
  return {
    columns,
    rows,
    timeZone: 'UTC',
    name: 'boards',
    title: 'A report',
    watching,
  } as unknown as ReportAnswer;
}

/** Where the links of a drawn table lead, with their texts. */
function linksOf(columns: ReportColumn[], rows: Row[], chosen: Partial<ReportChoice> = {}) {
  const { root, draw } = drawing();
  const links = postsBehind({ ...KNOWN, chosen: { ...NOTHING_CHOSEN, ...chosen } });
  const options = { sort: null, sortedBy: () => '#', links };
  draw(table({ columns: columnsOf(answerOf(columns, rows), options), rows, label: 'Rows' }));
  return root.all('a').flatMap((link) => {
    const href = link.attribute('href');
    return href === '#' ? [] : [[href, link.text, link.attribute('class') ?? '']];
  });
}

describe('a row of a report', () => {
  it('leads to the posts of its board or status, with the filters that were chosen', () => {
    const columns = [column('board', 'text'), column('posts', 'integer'), column('votes', 'integer')];
    assert.deepEqual(linksOf(columns, [{ board: 'Bugs', posts: 4, votes: 9 }], { status: '3' }), [
      ['/posts?board=bugs&status=3', 'Bugs', 'row-link'],
      ['/posts?board=bugs&status=3', '4', ''],
      ['/posts?board=bugs&status=3&sort=votes', '9', ''],
    ]);
    const [[href] = []] = linksOf([column('week', 'date')], [{ week: '2026-11-09' }], { tz: 'UTC' });
    assert.equal(href, '/posts?since=2026-11-09&until=2026-11-16&tz=UTC');
    const segments = [column('segment', 'text')];
    assert.equal(linksOf(segments, [{ segment: 'Pro' }])[0]?.[0], '/posts?segment=plan%3DPro');
  });

  it('leads to its post or its person, whose address stands under the name', () => {
    const post = [column('post', 'post'), column('title', 'text'), column('votes', 'integer')];
    assert.deepEqual(linksOf(post, [{ post: 7, title: 'Dark mode', votes: 1 }]), [
      ['/posts/7', '#7', ''],
      ['/posts/7', 'Dark mode', 'row-link'],
    ]);
    const people = [column('customer', 'text'), column('email', 'text'), column('posts', 'integer')];
    const ada = { user: 5, customer: 'Ada', email: 'ada@example.com', posts: 2 };
    assert.deepEqual(linksOf(people, [ada]), [
      ['/people/5', 'Ada', 'row-link'],
      ['/posts?creator=5', '2', ''],
    ]);
  });

  it('has a bar where it is a post, and none where a chart above has it', () => {
    const votes = { ...column('votes', 'integer'), bar: true as const };
    const barsOf = (columns: ReportColumn[], row: Row): number => {
      const { root, draw } = drawing();
      const links = postsBehind({ ...KNOWN, chosen: NOTHING_CHOSEN });
      const shown = columnsOf(answerOf(columns, [row]), { sort: null, sortedBy: () => '#', links });
      draw(table({ columns: shown, rows: [row], label: 'Rows' }));
      return root.all('span').filter((span) => span.attribute('class')?.includes('thin')).length;
    };
    assert.equal(barsOf([column('board', 'text'), votes], { board: 'Bugs', votes: 9 }), 0);
    assert.equal(barsOf([column('post', 'post'), votes], { post: 7, votes: 9 }), 1);
  });

  it('shows no column that has nothing in any row', () => {
    const columns = [column('customer', 'text'), column('plan', 'text'), column('posts', 'integer')];
    const rows = [{ customer: 'Ada', plan: null, posts: 0 }];
    const options = {
      sort: null,
      sortedBy: () => '#',
      links: postsBehind({ ...KNOWN, chosen: NOTHING_CHOSEN }),
    };
    assert.equal(columnsOf(answerOf(columns, rows), options).length, 2);
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
