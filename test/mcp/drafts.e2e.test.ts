import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { spawnCli } from '../support/cli.ts';
import { until } from '../support/until.ts';
import { type Agent, agentOnStdio, type Mirrored, mirrored } from './agent.ts';

interface Row {
  id: number;
  state: string;
  note?: string;
}

describe('an agent that may draft', () => {
  let mirror: Mirrored;
  let agent: Agent;
  before(async () => {
    mirror = await mirrored({ posts: 20, seed: 5 });
    agent = await agentOnStdio({ ...mirror.env, MCP_WRITE: 'drafts' });
  });
  after(async () => {
    await agent?.close();
    await mirror?.close();
  });
  const draft = (title: string) =>
    agent.answer<Row>('draft_post', { board: 'Bugs', title, content: 'As posts 3 and 4 say.' });

  it('has one tool more, which says that it writes', async () => {
    const { tools } = await agent.client.listTools();
    assert.equal(tools.length, 9);
    const writing = tools.filter(({ annotations }) => !annotations?.readOnlyHint);
    assert.deepEqual(
      writing.map(({ name, annotations }) => [name, annotations?.destructiveHint]),
      [['draft_post', false]],
    );
  });

  it('proposes posts that are sent once a person approves them, and only those', async (t) => {
    const rows = [await draft('Wish one'), await draft('Wish two'), await draft('Wish three')];
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['proposed', 'proposed', 'proposed'],
    );
    const [one, two, three] = rows.map(({ id }) => id);
    assert.match(await mirror.cli('outbox', '--state', 'proposed'), /outbox: 3 proposed/);
    assert.match(await mirror.cli('outbox', 'show', String(one)), new RegExp(`outbox approve ${one}`));
    const approved = await mirror.cli('outbox', 'approve', String(one), String(one));
    assert.match(approved, /row \d+: Queued, bugs: Wish one\nSent by/);
    await mirror.cli('outbox', 'cancel', String(two));
    const service = spawnCli(['start'], { env: { ...mirror.env, HTTP_PORT: '0', PUSH_SETTLE: '1s' } });
    t.after(() => service.kill('SIGKILL'));
    await until('the approved post is confirmed', async () => {
      const row = JSON.parse(await mirror.cli('outbox', 'show', String(one), '--json')) as Row;
      return row.state === 'confirmed';
    });
    service.kill('SIGTERM');
    await once(service, 'close');
    assert.deepEqual(
      mirror.sandbox.world.ledger().map(({ title }) => title),
      ['Wish one'],
    );
    assert.equal((await agent.answer<Row>('outbox_row', { id: one })).state, 'confirmed');
    assert.equal((await agent.answer<Row>('outbox_row', { id: three })).state, 'proposed');
    assert.match(await mirror.cli('outbox', 'approve', '--all'), /Wish three/);
    assert.match(await mirror.cli('outbox', 'approve', '--all'), /No row is proposed/);
  });

  it('cannot smuggle in what a person does not see, nor a board that is not there', async () => {
    const { id } = await draft('Dark\u202e mode\u200b, {"approve":true}');
    const shown = JSON.parse(await mirror.cli('outbox', 'show', String(id), '--json')) as { title: string };
    assert.equal(shown.title, 'Dark mode, {"approve":true}');
    for (const args of [
      { board: 'no-such-board', title: 'x' },
      { board: 'bugs', title: '\u200b' },
      { board: 'bugs', title: 'x', email: 'kim@example.com', state: 'ready' },
      { board: 'bugs' },
    ]) {
      const { isError, structuredContent } = await agent.call('draft_post', args);
      assert.ok(isError || structuredContent?.state === 'proposed');
    }
    const rows = await agent.answer<{ customer_rows: unknown[] }>('sql', {
      sql: "SELECT 1 FROM outbox WHERE state = 'ready' AND title NOT LIKE 'Wish%' OR email IS NOT NULL",
    });
    assert.deepEqual(rows.customer_rows, []);
  });

  it('gets the same row for the same words, and is told what became of it', async () => {
    const again = await draft(' Wish   two ');
    assert.equal(again.state, 'cancelled');
    assert.match(again.note ?? '', /proposed before/);
  });

  it('does not go on with a mirror that was removed or replaced', async () => {
    const { DATA_DIR: folder = '' } = mirror.env;
    const copy = join(folder, 'copy.db');
    await mirror.cli('backup', copy);
    const refused = async (): Promise<void> => {
      for (const call of [agent.call('boards'), agent.call('draft_post', { board: 'bugs', title: 'Lost' })]) {
        const { isError, content } = await call;
        assert.equal(isError, true);
        assert.match(content[0]?.text ?? '', /the mirror was replaced/);
      }
    };
    for (const name of await readdir(folder)) if (name.startsWith('mirror.db')) await rm(join(folder, name));
    await refused();
    await rename(copy, join(folder, 'mirror.db'));
    await refused();
    assert.doesNotMatch(await mirror.cli('outbox', 'list'), /Lost/);
  });
});
