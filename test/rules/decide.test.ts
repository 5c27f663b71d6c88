import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { dueSlot, lastSlot, nextSlot } from '../../src/rules/decide/slots.ts';
import { chanceOfAtLeast, judgeVotes, spreadOverPauses } from '../../src/rules/decide/unusual.ts';

const WEEKLY = { every: 'weekly', at: { weekday: 1, hour: 9, minute: 0 }, zone: 'Europe/Berlin' } as const;

describe('when a rule tells', () => {
  it('a weekly rule follows the clock of its zone through the change to summer time', () => {
    const at = (text: string): number => Date.parse(text);
    assert.equal(lastSlot(WEEKLY, at('2026-03-28T00:00:00Z')), at('2026-03-23T08:00:00Z'));
    assert.equal(nextSlot(WEEKLY, at('2026-03-28T00:00:00Z')), at('2026-03-30T07:00:00Z'));
    assert.equal(lastSlot(WEEKLY, at('2026-03-30T07:00:00Z')), at('2026-03-30T07:00:00Z'));
  });

  it('every moment of a schedule is due once, however often and late the rule is looked at', () => {
    const daily = { ...WEEKLY, every: 'daily' } as const;
    const steps = fc.array(fc.integer({ min: 1, max: 3 * 86_400_000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(steps, (waits) => {
        let now = Date.parse('2026-03-01T12:00:00Z');
        let last = lastSlot(daily, now);
        const told: number[] = [];
        for (const wait of waits) {
          now += wait;
          const due = dueSlot(daily, last, now);
          if (due === null) continue;
          told.push(due);
          last = due;
        }
        assert.deepEqual(
          told,
          [...new Set(told)].sort((a, b) => a - b),
        );
        assert.equal(last, lastSlot(daily, now));
      }),
      { numRuns: 30 },
    );
  });
});

describe('unusual votes', () => {
  const usual = Array.from({ length: 56 }, (_, day) => (day % 7 > 4 ? 4 : 12));

  it('three times the votes over two days are unusual, and the usual votes are not', () => {
    assert.deepEqual(judgeVotes([...usual, 12, 12], 4).isUnusual, false);
    const verdict = judgeVotes([...usual, 36, 36], 4);
    assert.deepEqual([verdict.isUnusual, verdict.votes], [true, 72]);
    assert.ok(Math.abs(verdict.usual - 24) < 3, `${verdict.usual}`);
  });

  it('a weekend is compared with weekends', () => {
    const days = [...usual, 12, 12, 12, 12, 12];
    assert.equal(judgeVotes([...days, 13, 13], 4).isUnusual, true);
    assert.equal(judgeVotes([...usual, 13, 13], 4).isUnusual, false);
  });

  it('a board that is young, or has a handful of votes, is not judged', () => {
    assert.equal(judgeVotes([...usual.slice(0, 20), 99, 99], 4).isUnusual, false);
    assert.equal(judgeVotes([...usual.map(() => 0), 3, 2], 4).isUnusual, false);
    assert.equal(judgeVotes([...usual.map(() => 0), 6, 6], 4).isUnusual, true);
  });

  it('a board with thousands of votes a day is judged like any other', () => {
    const busy = usual.map((votes) => 100 * votes);
    assert.equal(judgeVotes([...busy, 3600, 3600], 4).isUnusual, true);
    assert.equal(judgeVotes([...busy, 1200, 1200], 4).isUnusual, false);
  });

  it('votes that were seen after a pause came on its days too, and none is lost', () => {
    assert.deepEqual(
      spreadOverPauses([5, 0, 0, 12, 7, 0, 0], (day) => ![1, 2, 5, 6].includes(day)),
      [5, 4, 4, 4, 7, 0, 0],
    );
    const days = fc.array(fc.record({ votes: fc.nat(50), isWatched: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(days, (all) => {
        const votes = all.map((day) => day.votes);
        const spread = spreadOverPauses(votes, (day) => all[day]?.isWatched === true);
        const sum = (numbers: number[]): number => numbers.reduce((total, n) => total + n, 0);
        assert.ok(Math.abs(sum(spread) - sum(votes)) < 1e-6);
      }),
    );
  });

  it('the tail of the distribution adds up to one and falls', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.double({ min: 0.3, max: 60, noNaN: true }),
          fc.double({ min: 500, max: 9000, noNaN: true }),
        ),
        fc.double({ min: 1, max: 6, noNaN: true }),
        (mean, spread) => {
          const tails = Array.from({ length: 30 }, (_, count) => chanceOfAtLeast(count, mean, spread));
          assert.equal(tails[0], 1);
          for (const [i, chance] of tails.entries())
            assert.ok(chance <= (tails[i - 1] ?? 1) + 1e-9 && chance >= 0);
          assert.ok(chanceOfAtLeast(Math.ceil(mean + 60 * Math.sqrt(mean * spread)), mean, spread) < 1e-6);
        },
      ),
    );
  });
});
