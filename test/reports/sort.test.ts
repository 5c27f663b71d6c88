import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ReportResult } from '../../src/reports/report.ts';
import { sortedReport } from '../../src/reports/sort.ts';

const reportOf = (rows: ReportResult['rows'], people: number[] = []) => ({
  columns: [
    { name: 'title', kind: 'text' as const },
    { name: 'votes', kind: 'integer' as const },
  ],
  rows,
  people,
});

describe('a report in the order of a column', () => {
  it('has every row once, rising or falling, and rows without a value last', () => {
    const values = fc.array(fc.option(fc.integer(), { nil: null }));
    fc.assert(
      fc.property(values, fc.boolean(), (votes, isFalling) => {
        const people = votes.map((_, i) => i);
        const sorted = sortedReport(
          reportOf(
            votes.map((value, i) => ({ title: String(i), votes: value })),
            people,
          ),
          isFalling ? '-votes' : 'votes',
        );
        const now = sorted.rows.map((row) => row.votes as number | null);
        const known = now.filter((value) => value !== null);
        const way = isFalling ? -1 : 1;
        assert.deepEqual(
          known,
          known.toSorted((a, b) => way * (a - b)),
        );
        assert.deepEqual(
          now.slice(known.length).every((value) => value === null),
          true,
        );
        assert.deepEqual(
          sorted.people,
          sorted.rows.map(({ title }) => Number(title)),
          'the people move with their rows',
        );
        assert.equal(now.length, votes.length);
      }),
    );
  });

  it('reads numbers in texts as people do', () => {
    const { rows } = sortedReport(
      reportOf(['b', 'a10', 'A9'].map((title) => ({ title, votes: 1 }))),
      'title',
    );
    assert.deepEqual(
      rows.map(({ title }) => title),
      ['A9', 'a10', 'b'],
    );
  });

  it('is refused by a column that it does not have, with those it has', () => {
    assert.throws(() => sortedReport(reportOf([]), '-age'), /"sort" can be one of title, votes/);
  });
});
