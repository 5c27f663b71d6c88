import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { reportText } from '../../src/cli/report-text.ts';
import { bucketsOf, calendarOf, momentOf } from '../../src/reports/moment.ts';
import { reportCsv } from '../../src/reports/report.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { ANN, NOW, pick, tell, write } from './story.ts';

/** Where clocks change at midnight, at odd offsets, or skip a whole day. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'America/Havana',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Asia/Beirut',
  'America/St_Johns',
];

describe('the calendar of a reader', () => {
  it('begins each day with the first moment of it, in any zone and year', () => {
    const day = fc.integer({
      min: Date.UTC(1990, 0, 1) / 86_400_000,
      max: Date.UTC(2040, 0, 1) / 86_400_000,
    });
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), day, (zone, n) => {
        const calendar = calendarOf(zone);
        const date = new Date(n * 86_400_000).toISOString().slice(0, 10);
        const start = calendar.startOf(date);
        assert.ok(calendar.dateOf(start) >= date, `${zone} ${date}`);
        assert.ok(calendar.dateOf(start - 1) < date, `${zone} ${date}`);
      }),
      { numRuns: 200 },
    );
  });

  it('begins it at the change where there is no midnight, and once where there are two', () => {
    const start = (zone: string, date: string) => new Date(calendarOf(zone).startOf(date)).toISOString();
    assert.equal(start('America/Sao_Paulo', '2017-10-15'), '2017-10-15T03:00:00.000Z');
    assert.equal(start('America/Havana', '2025-11-02'), '2025-11-02T04:00:00.000Z');
    assert.equal(start('Asia/Kathmandu', '2026-01-05'), '2026-01-04T18:15:00.000Z');
  });

  it('reads days and times without a zone by the clock of the reader', () => {
    const berlin = calendarOf('Europe/Berlin');
    const read = (text: string) => momentOf('since', text, NOW, berlin);
    assert.equal(read('2026-01-31'), '2026-01-30T23:00:00.000Z');
    assert.equal(read('2026-01-31T12:30'), '2026-01-31T11:30:00.000Z');
    assert.equal(read('2026-01-31T12:30Z'), '2026-01-31T12:30:00.000Z');
    // The 29th of March has 23 hours, the 25th of October 25.
    assert.equal(read('2026-03-29T12:00'), '2026-03-29T10:00:00.000Z');
    assert.equal(read('2026-10-25T12:00:30.5'), '2026-10-25T11:00:30.500Z');
  });

  it('counts a day of 23 hours and one of 25 as days', () => {
    const berlin = calendarOf('Europe/Berlin');
    for (const [since, until] of [
      ['2026-03-28', '2026-03-31'],
      ['2026-10-24', '2026-10-27'],
    ] as const) {
      const bounds = [since, until].map((day) => new Date(berlin.startOf(day)).toISOString());
      const buckets = bucketsOf('day', { since: bounds[0] ?? '', until: bounds[1] ?? '' }, berlin);
      assert.deepEqual([buckets.length, buckets[0]?.date], [3, since]);
      assert.ok(buckets.every(({ partial }) => partial === null));
    }
  });
});

/** Two posts around the midnight with which a Monday begins: half an hour before it in UTC, a minute before it in Nepal. */
const POSTS = [
  aPost(1, { creator: ANN, created: '2026-01-04T23:30:00Z' }),
  aPost(2, { creator: ANN, created: '2026-01-04T18:14:59.999Z' }),
];

describe('reports in a time zone', () => {
  it('count a week from the Monday of the reader', async (t) => {
    const story = await write(t, async (store) => void sweep(store, 'posts', POSTS, 12 * 1440));
    const weeks = async (timeZone: string) => {
      const request = { timeZone, since: '2025-12-29', until: '2026-01-12' };
      const counts = pick(await story.ask('new-by-week', request), 'week', 'posts');
      assert.deepEqual(pick(await story.ask('first-reply', request), 'week', 'posts'), counts, timeZone);
      const { rows } = await story.ask('boards', request);
      assert.deepEqual(
        rows[0]?.new_posts,
        counts.map(([, posts]) => posts),
        timeZone,
      );
      return counts;
    };
    assert.deepEqual(await weeks('UTC'), [
      ['2025-12-29', 2],
      ['2026-01-05', 0],
    ]);
    for (const zone of ['Europe/Berlin', 'Asia/Kathmandu'])
      assert.deepEqual(await weeks(zone), [
        ['2025-12-29', 1],
        ['2026-01-05', 1],
      ]);
    assert.deepEqual(await weeks('America/New_York'), [
      ['2025-12-29', 2],
      ['2026-01-05', 0],
    ]);
  });

  it('say in their heading that the day they end before is not counted', async (t) => {
    const story = await tell(t);
    const report = await story.ask('top-posts', { since: '2026-01-01', until: '2026-01-31' });
    const text = reportText(report, { width: 120, charts: false });
    assert.match(text, /\nfrom 2026-01-01 to 2026-01-31 00:00 UTC\n/);
  });

  it('mark the weeks at both ends that are shown in part, in every format', async (t) => {
    const story = await tell(t);
    const request = { timeZone: 'Europe/Berlin', since: '2026-01-14T12:00', board: 'features' };
    const report = await story.ask('new-by-week', request);
    assert.deepEqual(pick(report, 'week', 'partial'), [
      ['2026-01-12', 'from 2026-01-14 12:00'],
      ['2026-01-19', null],
      ['2026-01-26', 'so far, until 2026-01-31 01:00'],
    ]);
    const text = reportText(report, { width: 120, charts: false });
    assert.match(text, /from 2026-01-14 12:00 to 2026-01-31 01:00 Europe\/Berlin/);
    assert.match(text, /2026-01-12 .*from 2026-01-14 12:00\n2026-01-19 +Features +0 +1 *\n/);
    assert.match(
      reportCsv(report),
      /week,board,posts,comments,partial\r\n2026-01-12,Features,0,0,from 2026-01-14 12:00\r\n/,
    );
    const { notes } = await story.ask('boards', { timeZone: 'Europe/Berlin' });
    assert.match(
      notes.join('\n'),
      /The number for the week of 2026-01-26 is of a part of it: so far, until 2026-01-31 01:00\./,
    );
  });

  it('that begin and end with a week mark none', async (t) => {
    const story = await tell(t);
    const report = await story.ask('new-by-week', { since: '2025-12-29', until: '2026-01-12' });
    assert.ok(report.rows.every(({ partial }) => partial === null));
    assert.doesNotMatch(reportText(report, { width: 120, charts: false }), /partial/);
  });

  it('show moments by the clock of the reader, and UTC to machines', async (t) => {
    const story = await tell(t);
    const report = await story.ask('post-votes', { post: 101, timeZone: 'America/New_York' });
    assert.equal(report.rows[0]?.at, '2026-01-01T00:00:00.000Z');
    assert.match(reportText(report, { width: 120, charts: false }), /2025-12-31 19:00 /);
    const top = await story.ask('top-posts', { timeZone: 'America/New_York', limit: 1, includeClosed: true });
    assert.match(reportText(top, { width: 120, charts: false }), /Features +2025-11-30 +Dark mode/);
  });
});
