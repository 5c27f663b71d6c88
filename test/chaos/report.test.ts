import assert from 'node:assert/strict';
import { test } from 'node:test';
import { READY_AGAIN } from './invariants/readiness.ts';
import { resultOf } from './report.ts';
import { createTally, type Tally } from './tally.ts';

const FIRED = new Map([['upstream: reset', 1]]);

function tallied(work: (tally: Tally) => void): { passed: boolean; text: string } {
  const tally = createTally({ path: '', note: () => undefined });
  work(tally);
  return resultOf(tally, FIRED, 1500);
}

test('a run passes when every fault fired and everything held', () => {
  const { passed } = tallied((tally) => {
    tally.expect('kill');
    tally.fired('kill');
    tally.check('nothing is lost', true);
    tally.took(READY_AGAIN, 1400);
  });
  assert.equal(passed, true);
});

test('a run fails, and says why, when a fault never fired', () => {
  const { passed, text } = tallied((tally) => tally.expect('kill'));
  assert.equal(passed, false);
  assert.match(text, /never fired: kill/);
});

test('a run fails when something did not hold a single time', () => {
  const { passed, text } = tallied((tally) => {
    for (let n = 0; n < 1000; n++) tally.check('nothing is lost', n !== 500, () => 'row 500');
  });
  assert.equal(passed, false);
  assert.match(text, /nothing is lost: row 500/);
});

test('a run fails when it took longer than a second and a half to be ready again', () => {
  assert.equal(tallied((tally) => tally.took(READY_AGAIN, 1501)).passed, false);
});
