import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
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
    const listed = JSON.parse((await two.run(['sources', '--json'])).stdout);
    const states = listed.sources.map(({ name, state }: { name: string; state: string }) => [name, state]);
    assert.equal(new Map(states).get(left), 'not on this machine');
    const passed = await fetch(`${two.url()}/s/${left}/api/v1/posts/`);
    assert.equal(passed.status, 200);
    // The token of the feeds would open every page there, if this machine worked off the dots.
    for (const path of [`/s/${left}/feeds/../data/posts`, `/s/${left}/feeds/%2e%2e/data/posts`])
      assert.equal(await statusOf(two.url(), path), 404, path);
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

/** Of a path exactly as it is: fetch would work off its dots. */
async function statusOf(url: string, path: string): Promise<number | undefined> {
  const asked = request(url, { path, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}
