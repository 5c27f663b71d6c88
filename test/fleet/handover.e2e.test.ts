import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LONG_RUN_MS, until } from '../support/until.ts';
import { create, fleetOf, posted, runs } from './support/fleet.ts';

describe('a fleet', () => {
  it('hands the sources of a machine that stops to another one, and no row is unclear', async (t) => {
    const { sandboxes, machine } = await fleetOf(t, ['one', 'two'], ['acme', 'beta']);
    const [one, two] = [machine('one'), machine('two')];
    await one.start();
    await runs(one, ['acme', 'beta']);
    await two.start();
    await until(
      'each runs one',
      async () => {
        const ready = [await one.ready(), await two.ready()];
        return ready.every(({ length }) => length === 1);
      },
      LONG_RUN_MS,
    );
    // The source that moved was handed over whole: nothing of it has to be looked for.
    assert.match(one.said(), /"event":"fleet.handed-over"[^\n]*"whole":true/);
    assert.match(two.said(), /"event":"fleet.restored"[^\n]*"checking":0/);
    const [left = ''] = await one.ready();
    await create(one, left, 'Before the move');
    await until('it has arrived', () => posted(sandboxes.get(left), 'Before the move') === 1);
    const elsewhere = await two.run(['create', '--source', left, '--board', '1', '--title', 'Lost']);
    assert.equal(elsewhere.code, 6, elsewhere.stderr);
    const passed = await fetch(`${two.url()}/s/${left}/api/v1/posts/`);
    assert.equal(passed.status, 200);
    assert.equal(await one.stop(), 0);
    await runs(two, ['acme', 'beta']);
    assert.equal(posted(sandboxes.get(left), 'Before the move'), 1);
    const told = JSON.parse((await two.run(['fleet', 'status', '--json'])).stdout);
    assert.deepEqual(
      told.sources.map(({ machine }: { machine: string }) => machine),
      ['two', 'two'],
    );
  });
});
