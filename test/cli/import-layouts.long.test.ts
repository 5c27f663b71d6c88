import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EXAMPLES, LAYOUT_CASES } from '../outbox/csv/layout-cases.ts';
import { openSite } from '../support/mirror-site.ts';

const FAST = { PUSH_PER_MINUTE: '100000', PUSH_SETTLE: '10ms' };

interface Told {
  layout: string | null;
  accepted: number;
  already: number;
  refused: number;
  states: { confirmed: number; rejected: number };
}

describe('feedback-mirror import of other tools’ exports', () => {
  it('sends each to the right board in the right name, without a flag where the file says it all', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    for (const { file, layout, first, flags = [] } of LAYOUT_CASES) {
      const path = join(EXAMPLES, file);
      const { code, stdout, stderr } = await site.run(['import', path, ...flags, '--wait', '--json'], FAST);
      assert.equal(code, 0, `${file}: ${stderr}`);
      const told = JSON.parse(stdout) as Told;
      assert.deepEqual([told.layout, told.refused, told.states.rejected], [layout, 0, 0], file);
      const sent = site.sandbox.world.ledger().find(({ title }) => title === first.title);
      assert.equal(sent?.content, first.content, file);
      assert.equal(sent?.email, first.email ?? 'owner@example.com', file);
    }
    const boards = new Set(site.sandbox.world.ledger().map(({ board }) => board));
    assert.deepEqual(boards, new Set(['feature-requests', 'bugs']));
  });

  it('stops before anything is accepted where a board is unknown, and takes what the person says', async (t) => {
    const site = await openSite(t);
    await site.run(['sync']);
    const text = readFileSync(join(EXAMPLES, 'canny.csv'), 'utf8').replace('Feature Requests', 'Wünsche');
    writeFileSync(join(site.folder, 'canny.csv'), text);
    const stopped = await site.run(['import', 'canny.csv']);
    assert.equal(stopped.code, 2);
    assert.match(
      stopped.stderr,
      /no board is known by these names: "Wünsche" \(1 row\); nothing was imported/,
    );
    assert.match(stopped.stderr, /--board-map "Wünsche=slug"/);
    writeFileSync(join(site.folder, 'boards.txt'), '# old name=slug\nwunsche=mobile\n');
    const mapped = await site.run(['import', 'canny.csv', '--board-map', 'boards.txt', '--json']);
    assert.equal((JSON.parse(mapped.stdout) as Told).accepted, 2);
    const both = await site.run(['import', 'canny.csv', '--board', 'bugs', '--board-map', 'boards.txt']);
    assert.equal(both.code, 2);
    assert.match(both.stderr, /--board and --board-map contradict each other/);
    const edited = text.replace('Dark mode for the dashboard', 'Dark mode, please');
    writeFileSync(join(site.folder, 'canny.csv'), edited);
    const again = await site.run(['import', 'canny.csv', '--board-map', 'Wünsche=mobile', '--json']);
    const told = JSON.parse(again.stdout) as Told;
    assert.deepEqual(
      [told.accepted, told.already, told.refused],
      [0, 1, 1],
      'an edited title is no new post',
    );
  });
});
