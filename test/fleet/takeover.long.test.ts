import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LONG_RUN_MS, until } from '../support/until.ts';
import { create, fleetOf, posted, runs } from './support/fleet.ts';

const ROWS = Array.from({ length: 20 }, (_, n) => `Waiting ${n + 1}`);

describe('a machine of a fleet', () => {
  it('lets nothing leave a machine that was cut off and frozen, and another one takes over', async (t) => {
    const { sandboxes, machine } = await fleetOf(t, ['one', 'two'], ['acme'], {
      push_per_minute: 60,
      push_settle: '120s',
    });
    const [one, two] = [machine('one'), machine('two')];
    const sent = (title: string): number => posted(sandboxes.get('acme'), title);
    await one.start();
    await runs(one, ['acme']);
    await two.start();
    await until('the second machine is ready without a source', async () => {
      const answer = await fetch(`${two.url()}/readyz`);
      return answer.status === 200;
    });
    // More rows than leave before the lease is no longer confirmed.
    writeFileSync(join(one.folder, 'rows.csv'), `board,title\n${ROWS.map((row) => `1,${row}`).join('\n')}\n`);
    const imported = await one.run(['import', 'rows.csv', '--source', 'acme', '--json']);
    assert.equal(imported.code, 0, imported.stderr);
    // Cut off, it shows its pages and accepts nothing.
    one.postgres.cut();
    const posts = `${one.url()}/s/acme/api/v1/posts/`;
    const lease = async (): Promise<string | null> =>
      (await fetch(posts)).headers.get('feedback-mirror-lease');
    await until('the first machine says that its copy may be old', async () => (await lease()) !== null);
    const refused = await fetch(`${posts}create/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Refused', content: 'Refused', board: '1' }),
    });
    assert.equal(refused.status, 503);
    one.child().kill('SIGSTOP');
    const before = ROWS.filter((row) => sent(row) > 0);
    assert.ok(before.length < ROWS.length, 'rows wait on the machine that is frozen');
    await runs(two, ['acme']);
    await create(two, 'acme', 'First of the second machine');
    await until('it has arrived', () => sent('First of the second machine') === 1, LONG_RUN_MS);
    one.child().kill('SIGCONT');
    one.postgres.mend();
    await until('the first machine has noticed', () => /"event":"fleet.lost"/.test(one.said()), LONG_RUN_MS);
    await until(
      'it is confirmed, and ready without a source',
      async () => {
        const answer = await fetch(`${one.url()}/readyz`);
        const { checks } = (await answer.json()) as { checks: { name: string }[] };
        return answer.status === 200 && checks.length === 0;
      },
      LONG_RUN_MS,
    );
    // The second machine looks for these rows for longer than this test takes, so each further one came from the first.
    assert.deepEqual(
      ROWS.filter((row) => sent(row) > 0),
      before,
    );
    assert.deepEqual(await one.ready(), []);
  });
});
