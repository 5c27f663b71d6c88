import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LONG_RUN_MS, until } from '../support/until.ts';
import { create, fleetOf, posted, runs } from './support/fleet.ts';

describe('a machine of a fleet', () => {
  it('lets nothing leave a machine that was frozen or cut off until its lease is confirmed', async (t) => {
    const { sandboxes, machine } = await fleetOf(t, ['one', 'two'], ['acme']);
    const [one, two] = [machine('one'), machine('two')];
    await one.start();
    await runs(one, ['acme']);
    // Cut off, it shows its pages and accepts nothing.
    one.postgres.cut();
    const page = `${one.url()}/s/acme/api/v1/posts/`;
    const lease = async (): Promise<string | null> =>
      (await fetch(page)).headers.get('feedback-mirror-lease');
    await until('the first machine says that its copy may be old', async () => (await lease()) !== null);
    const refused = await fetch(`${one.url()}/s/acme/api/v1/posts/new/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Refused', content: 'Refused', board: '1' }),
    });
    assert.equal(refused.status, 503);
    one.postgres.mend();
    await until('the lease is confirmed again', async () => (await lease()) === null, LONG_RUN_MS);
    await two.start();
    await until('the second machine is ready without a source', async () => {
      const answer = await fetch(`${two.url()}/readyz`);
      return answer.status === 200;
    });
    // Frozen with rows to send: the other machine sends them, and the first one nothing more.
    await create(one, 'acme', 'Last of the first machine');
    one.child().kill('SIGSTOP');
    await runs(two, ['acme']);
    const before = sandboxes.get('acme')?.world.ledger().length;
    await create(two, 'acme', 'First of the second machine');
    const arrived = (): boolean => posted(sandboxes.get('acme'), 'First of the second machine') === 1;
    await until('it has arrived', arrived, LONG_RUN_MS);
    one.child().kill('SIGCONT');
    await until('the first machine has noticed', () => /"event":"fleet.lost"/.test(one.said()), LONG_RUN_MS);
    assert.ok((sandboxes.get('acme')?.world.ledger().length ?? 0) <= (before ?? 0) + 2);
    assert.ok(posted(sandboxes.get('acme'), 'Last of the first machine') <= 1);
    assert.deepEqual(await one.ready(), []);
  });
});
