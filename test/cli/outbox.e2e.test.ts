import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { OutboxStore } from '../../src/outbox/store/store.ts';
import { openOutboxStore } from '../../src/outbox/store/store.ts';
import { openSite, type Site } from '../support/mirror-site.ts';

/** A site with rows in the given states, made as the sender would make them. */
async function siteWith(
  t: TestContext,
  rows: ('ready' | 'rejected' | 'uncertain' | 'confirmed')[],
): Promise<Site> {
  const site = await openSite(t);
  // Only an uncertain row has posts to be compared with.
  if (rows.includes('uncertain')) await site.run(['sync', 'posts']);
  const store = openOutboxStore({ path: site.mirror, upstream: site.sandbox.url, holder: 'test' });
  for (const [i, state] of rows.entries()) await addRow(store, i + 1, state);
  await store.close();
  return site;
}

async function addRow(store: OutboxStore, id: number, state: string): Promise<void> {
  const now = Date.parse('2026-01-02T03:04:05.000Z');
  const text = {
    board: 'bugs',
    title: `Row ${id}\u202e with\ttabs`,
    content: 'one\ntwo',
    email: null,
    full_name: null,
  };
  const batch = id % 2 === 0 ? 'even' : 'odd';
  await store.accept([{ ...text, batch, source_key: `k${id}`, line: id + 1, content_hash: `t${id}` }], now);
  if (state === 'ready') return;
  await store.claim({ id, transition: TRANSITIONS.claim, now, deadline: now + 1000, listedMaxId: null });
  const attempt = { id, n: 1, httpStatus: null, error: 'no answer' };
  if (state === 'rejected')
    await store.endAttempt({
      ...attempt,
      outcome: 'rejected',
      transition: TRANSITIONS.reject,
      change: { now, error: 'no such board' },
    });
  else if (state === 'confirmed')
    await store.endAttempt({
      ...attempt,
      outcome: 'confirmed',
      transition: TRANSITIONS.confirm,
      change: { now, postId: 5, error: null },
    });
  else {
    await store.endAttempt({
      ...attempt,
      outcome: 'unknown',
      transition: TRANSITIONS.markAmbiguous,
      change: { now, error: 'no answer' },
    });
    await store.move(id, TRANSITIONS.park, { now, candidates: [3, 4], error: '2 posts could be this one' });
  }
}

interface Row {
  id: number;
  state: string;
  post_id: number | null;
  url: string | null;
}

async function stateOf(site: Site, id: number): Promise<Row> {
  return JSON.parse((await site.run(['outbox', 'show', String(id), '--json'])).stdout) as Row;
}

describe('feedback-mirror outbox', () => {
  it('lists the newest rows first, one line each, with why and how many there are', async (t) => {
    const site = await siteWith(t, ['ready', 'rejected', 'uncertain', 'confirmed']);
    const { code, stdout, stderr } = await site.run(['outbox']);
    assert.deepEqual([code, stderr], [0, '']);
    const [head = '', first = ''] = stdout.split('\n');
    assert.match(head, /^ID +STATE +BOARD +GOES AS +POST +TRIES +BATCH +LINE +TITLE$/);
    assert.match(first, /^4 +Sent +bugs +owner +#5 +1 +even +5 +Row 4 +with tabs$/);
    assert.match(stdout, /\n2 +no such board\n/);
    assert.match(stdout, /\noutbox: 1 queued, 1 sent, 1 rejected, 1 needs a decision\n$/);
    assert.equal(site.sandbox.world.ledger().length, 0);
  });

  it('lists by state, batch and number, and as JSON', async (t) => {
    const site = await siteWith(t, ['ready', 'ready', 'rejected', 'ready']);
    const ids = async (...args: string[]): Promise<number[]> => {
      const { stdout } = await site.run(['outbox', ...args, '--json']);
      return (JSON.parse(stdout) as { rows: Row[] }).rows.map(({ id }) => id);
    };
    assert.deepEqual(await ids('list', '--state', 'ready'), [4, 2, 1]);
    assert.deepEqual(await ids('list', '--state', 'Queued'), [4, 2, 1]);
    assert.deepEqual(await ids('--batch', 'odd'), [3, 1]);
    assert.deepEqual(await ids('list', '--limit', '1'), [4]);
    const { stdout } = await site.run(['outbox', '--limit', '1', '--batch', 'even']);
    assert.match(stdout, /The newest 1 of 2; --limit shows more\.\nbatch even: 2 queued\n$/);
  });

  it('is empty where nothing was ever written, and makes nothing', async (t) => {
    const site = await openSite(t);
    assert.deepEqual(await site.run(['outbox']), { code: 0, stdout: 'outbox: empty\n', stderr: '' });
    assert.equal((await site.run(['status'])).code, 2);
  });

  it('shows a row with its attempts and the posts it could be side by side', async (t) => {
    const site = await siteWith(t, ['uncertain']);
    const { code, stdout } = await site.run(['outbox', 'show', '1']);
    assert.equal(code, 0);
    assert.match(stdout, /^id +1\nstate +Needs a decision\nwhy +2 posts could be this one\n/);
    assert.match(stdout, /\ncontent +one\n +two\n/);
    assert.match(stdout, /\nattempts:\nN +STARTED.*\n1 +2026-01-02T03:04:05\.000Z .* unknown /);
    assert.match(
      stdout,
      /it could be one of these posts:\nPOST +CREATED +BOARD +BY +TITLE +URL.*\n#3 .*\n#4 .*/,
    );
    assert.match(
      stdout,
      /side by side:\n +SENT +#3 +#4\ntitle +Row 1 {2}with tabs +\S.*\ncontent +one two +\S/,
    );
    assert.match(stdout, /feedback-mirror outbox resolve 1 --post NUMBER/);
  });

  it('sends again, drops and resolves along the transitions', async (t) => {
    const site = await siteWith(t, ['rejected', 'uncertain', 'uncertain', 'ready']);
    const done = async (...args: string[]) => (await site.run(['outbox', ...args])).stdout;
    assert.equal(await done('retry', '1'), 'row 1: Queued\nIt is sent by "feedback-mirror start".\n');
    assert.equal(await done('cancel', '2'), 'row 2: Cancelled\n');
    assert.equal(await done('resolve', '3', '--post', '4'), 'row 3: Sent, post 4\n');
    assert.equal(await done('cancel', '4'), 'row 4: Cancelled\n');
    const { state, post_id, url } = await stateOf(site, 3);
    assert.deepEqual([state, post_id], ['confirmed', 4]);
    assert.match(url ?? '', /\/p\/4\/$/);
  });

  it('refuses a decision that the state of the row forbids, and an unknown row', async (t) => {
    const site = await siteWith(t, ['confirmed', 'uncertain', 'ready']);
    const wrong: [string[], RegExp][] = [
      [
        ['retry', '1'],
        /row 1 cannot be sent again: it is confirmed already\nOnly a row that is uncertain or/,
      ],
      [['retry', '3'], /it is ready and waits to be sent/],
      [['resolve', '3', '--post', '9'], /row 3 cannot be resolved/],
      [['resolve', '2', '--post', '5'], /post 5 already confirms another row/],
      [['retry', '99'], /there is no row 99 in the outbox/],
      [['approve', '3', '--all'], /give the ids of rows, or --all/],
      [['edit', '--batch', 'b', '--title', 'x'], /give the id of a row, or --batch with --where-board/],
      [['list', '--batch', 'nope'], /there is no batch nope in the outbox/],
      [['show', 'x'], /the id of a row must be a whole number from 1 up, not "x"/],
      [
        ['list', '--state', 'lost'],
        /--state "lost" is not known; it can be proposed \(Proposed\), ready \(Queued\), sending/,
      ],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await site.run(['outbox', ...args]);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, message);
    }
    assert.equal((await stateOf(site, 2)).state, 'uncertain');
  });

  it('is part of the status, with the reason why nothing is sent', async (t) => {
    const site = await siteWith(t, ['ready', 'rejected']);
    assert.match((await site.run(['status'])).stdout, /\noutbox: 1 queued, 1 rejected\n/);
    const store = openOutboxStore({ path: site.mirror, upstream: site.sandbox.url, holder: 'test' });
    await store.setPaused('the upstream refused the token (401)');
    await store.close();
    const { stdout } = await site.run(['status']);
    assert.match(
      stdout,
      /\n! the feedback service refused the token \(sending is paused\): put a new one in \.env or sources\.yaml, /,
    );
    const json = JSON.parse((await site.run(['status', '--json'])).stdout) as {
      outbox: { states: Record<string, number>; paused: string };
    };
    assert.deepEqual(
      [json.outbox.states.ready, json.outbox.paused],
      [1, 'the upstream refused the token (401)'],
    );
  });

  it('refuses a format that there is not', async (t) => {
    const site = await siteWith(t, ['rejected']);
    const { code, stderr } = await site.run(['outbox', 'list', '--format', 'xml']);
    assert.equal(code, 2);
    assert.match(stderr, /--format "xml" is not known; it can be csv/);
  });

  it('refuses an unknown board with suggestions, and takes it with --accept-unknown-boards', async (t) => {
    const site = await siteWith(t, ['rejected', 'uncertain']);
    const args = ['outbox', 'edit', '1', '--title', 'T', '--board', 'bugz'];
    const { code, stdout, stderr } = await site.run(args);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /no board is known as "bugz"; nothing was changed\nDid you mean bugs\?/);
    const edited = await site.run([...args, '--accept-unknown-boards']);
    assert.deepEqual([edited.code, edited.stdout], [0, 'row 1: Rejected\n'], edited.stderr);
    assert.equal((await site.run(['outbox', 'edit', '1', '--board', 'Bugs'])).stderr, '');
  });
});
