import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ReportResult, Row } from '../../src/reports/report.ts';
import { refuseForSeveral, reportTogether } from '../../src/reports/together.ts';

const time = fc.option(fc.constantFrom('2026-01-01', '2026-01-02', '2026-01-03'));
const figure = fc.option(fc.integer({ min: 0, max: 100 }));

/** What each of some sources answers: its rows, how long it has been watched, and its notes. */
function answers(row: fc.Arbitrary<Row>, key: string) {
  const report = fc.record({
    rows: fc.uniqueArray(row, { maxLength: 4, selector: (of) => of[key] }),
    watching: fc.record({ since: time, last: time, gaps: fc.constant([]), unfinished: fc.constant(null) }),
    notes: fc.uniqueArray(fc.constantFrom('slow', 'young', 'odd')),
    columns: fc.constant([{ name: 'votes', kind: 'number' }]),
  });
  return fc
    .array(report, { minLength: 1, maxLength: 4 })
    .map((all) => all.map((one, n) => ({ source: `s${n}`, report: one as unknown as ReportResult })));
}

const weeks = answers(
  fc.record({ week: fc.constantFrom('2026-01-05', '2026-01-12'), votes: figure, gained: figure }),
  'week',
);
const posts = answers(fc.record({ post: fc.integer(), votes: figure }), 'post');

describe('a report over several sources', () => {
  it('adds up the figures of rows that mean the same, and of none that one source does not know', () => {
    fc.assert(
      fc.property(weeks, (found) => {
        const { rows } = reportTogether('votes', found);
        const own = found.flatMap(({ source, report }) => report.rows.map((row) => ({ source, ...row })));
        const sums = rows.slice(0, rows.length - own.length);
        assert.deepEqual(rows.slice(sums.length), own);
        assert.deepEqual(
          sums.map(({ week }) => week),
          [...new Set(own.map((row) => (row as Row).week))].sort(),
        );
        for (const sum of sums)
          for (const column of ['votes', 'gained']) {
            const parts = own
              .filter((row) => (row as Row).week === sum.week)
              .map((row) => (row as Row)[column]);
            const total = parts.reduce((a: number, part) => a + Number(part), 0);
            assert.equal(sum[column], parts.includes(null) ? null : total);
            assert.equal(sum.source, 'all sources');
          }
      }),
    );
  });

  it('has ranked rows in one order, the highest first, up to the limit', () => {
    fc.assert(
      fc.property(posts, fc.integer({ min: 1, max: 10 }), (found, limit) => {
        const { rows } = reportTogether('top-posts', found, limit);
        const votes = found.flatMap(({ report }) => report.rows.map((row) => Number(row.votes ?? 0)));
        assert.deepEqual(
          rows.map((row) => Number(row.votes ?? 0)),
          votes.sort((a, b) => b - a).slice(0, limit),
        );
      }),
    );
  });

  it('is known since its youngest source and up to the one that looked longest ago', () => {
    fc.assert(
      fc.property(posts, (found) => {
        const all = found.map(({ report }) => report.watching);
        const { since, last } = reportTogether('top-posts', found).watching;
        const known = (name: 'since' | 'last') => all.map((one) => one[name] ?? '').sort();
        assert.equal(since, all.some((one) => one.since === null) ? null : known('since').at(-1));
        assert.equal(last, all.some((one) => one.last === null) ? null : known('last')[0]);
      }),
    );
  });

  it('says a note of every source once, and others with their source', () => {
    fc.assert(
      fc.property(posts, (found) => {
        const { notes } = reportTogether('top-posts', found);
        for (const note of ['slow', 'young', 'odd']) {
          const sayers = found.filter(({ report }) => report.notes.includes(note));
          const said =
            sayers.length === found.length ? [note] : sayers.map(({ source }) => `${source}: ${note}`);
          assert.deepEqual(
            notes.filter((line) => line.endsWith(note)),
            said,
          );
        }
      }),
    );
  });

  it('is refused for votes of one post, whose number is of one source', () => {
    assert.throws(() => refuseForSeveral('post-votes'), { code: 'usage' });
    refuseForSeveral('votes');
  });
});
