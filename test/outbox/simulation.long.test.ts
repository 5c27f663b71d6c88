import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Simulation, type SimulationOptions, simulate } from './simulation.ts';

/** Other seeds and 100,000 rows with `npm run simulation`. */
async function told(t: TestContext, options: SimulationOptions): Promise<Simulation> {
  t.diagnostic(`seed ${options.seed}`);
  return await simulate(options);
}

/** Trouble that never came proves nothing. */
function assertAllHappened({ given, crashes, freezes, sweeps }: Simulation): void {
  const kinds = ['answer lost', 'request lost', '5xx after the commit', '5xx before the commit'];
  kinds.push('time-out, committed', 'time-out, lost', 'not-sent', 'throttled', 'rejected', 'unauthorised');
  for (const kind of kinds) assert.ok((given[kind] ?? 0) > 0, `${kind} never happened`);
  assert.ok(
    crashes > 20 && freezes > 5 && sweeps > 5,
    `${crashes} crashes, ${freezes} freezes, ${sweeps} sweeps`,
  );
}

function assertNothingLost({ verdict }: Simulation): void {
  const { lost, misbound, unfinished, falselyAccused } = verdict;
  assert.deepEqual(
    { lost, misbound, unfinished, falselyAccused },
    { lost: [], misbound: [], unfinished: [], falselyAccused: [] },
  );
}

describe('six hundred rows through every kind of trouble', () => {
  it('arrive exactly once each, and at most one in a hundred needs a person', async (t) => {
    const simulation = await told(t, { rows: 600, seed: 8, crashEvery: 400, freezeEvery: 1000 });
    assertAllHappened(simulation);
    assertNothingLost(simulation);
    assert.deepEqual(simulation.verdict.doubled, []);
    // The last rows have no later post that shows the list to be up to date.
    assert.ok(simulation.verdict.uncertain <= 6, JSON.stringify(simulation.verdict.reasons));
  });
});

describe('a service that rewrites three posts in ten', () => {
  it('gets none twice in silence, and most of those that were unclear are confirmed without a person', async (t) => {
    const { verdict } = await told(t, { rows: 300, seed: 3, trouble: { rewritten: 0.3 } });
    const { lost, doubled, misbound, unfinished, falselyAccused } = verdict;
    assert.deepEqual(
      { lost, doubled, misbound, unfinished, falselyAccused },
      { lost: [], doubled: [], misbound: [], unfinished: [], falselyAccused: [] },
    );
    assert.ok(verdict.rewritten > 25, `${verdict.rewritten} were rewritten`);
    assert.ok(
      verdict.rewrittenConfirmed >= 0.6 * verdict.rewritten,
      `${verdict.rewrittenConfirmed} confirmed`,
    );
  });
});

describe('delays far beyond what is waited for', () => {
  it('lose nothing, and every doubled post is found by a later sweep and shown on its row', async (t) => {
    const trouble = { commitLateMs: 600_000, visibleLateMs: 600_000 };
    const simulation = await told(t, { rows: 300, seed: 2, trouble });
    assertNothingLost(simulation);
    assert.ok(simulation.verdict.doubled.length > 0, 'nothing was doubled: the delays were too short');
    assert.deepEqual(simulation.verdict.silent, []);
  });
});
