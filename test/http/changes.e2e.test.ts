import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { SILENT } from '../../src/base/log.ts';
import { openChangeFeed } from '../../src/changes/feed.ts';
import { addChanges, type ChangesDeps, type ChangesPage } from '../../src/http/changes.ts';
import { openTestMirror } from '../support/mirror.ts';
import { aPost } from '../support/rows.ts';
import { sweep } from '../support/steps.ts';
import { ask, detailOf } from './client.ts';
import { open } from './service.ts';

/** A mirror whose only post changes its votes, and the feed of it over HTTP. */
async function openFeed(t: TestContext, options: Partial<ChangesDeps> = {}) {
  const mirror = openTestMirror();
  const feed = openChangeFeed(mirror);
  const vote = (votes: number): void =>
    void sweep(mirror.store, 'posts', [aPost(1, { votes_count: votes })], votes);
  vote(1);
  const part = (scope: Parameters<typeof addChanges>[0]): void =>
    addChanges(scope, { feed, log: SILENT, everyMs: 5, ...options });
  const http = await open(t, { parts: [part] });
  t.after(() => {
    feed.close();
    mirror.dispose();
  });
  return { ...http, vote, mirror };
}

type Site = Awaited<ReturnType<typeof openFeed>>;

async function page(site: Site, query: string): Promise<ChangesPage> {
  return JSON.parse((await ask(site, `/api/changes${query}`)).body) as ChangesPage;
}

/** A stream of events, read one at a time. */
async function listen(site: Site, headers: Record<string, string> = {}, query = '') {
  const outgoing = request(`${site.url}/api/changes/stream${query}`, { headers, agent: false });
  outgoing.end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  incoming.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const next = async (): Promise<string> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end < 0) {
        await once(incoming, 'data');
        continue;
      }
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (event.startsWith('id:')) return event;
    }
  };
  return { status: incoming.statusCode, next, close: () => outgoing.destroy(), raw: () => text };
}

describe('/api/changes', () => {
  it('returns the changes after a position, and the next position', async (t) => {
    const site = await openFeed(t);
    const { position, mirror } = await page(site, '');
    for (const votes of [2, 3, 4]) site.vote(votes);
    const first = await page(site, `?since=${position}&limit=2`);
    assert.deepEqual(
      first.changes.map(({ after }) => after?.votes_count),
      [2, 3],
    );
    assert.deepEqual([first.more, first.mirror, first.oldest], [true, mirror, 1]);
    const rest = await page(site, `?since=${first.next}&type=post.*&type=sync.*`);
    assert.deepEqual([rest.changes.map(({ after }) => after?.votes_count), rest.more], [[4], false]);
    assert.deepEqual((await page(site, `?since=${rest.next}`)).changes, []);
  });

  it('answers 410 for a position that is not kept any more, and 400 for text that is no position', async (t) => {
    const site = await openFeed(t);
    for (const path of ['/api/changes', '/api/changes/stream']) {
      const reply = await ask(site, `${path}?since=1-abc`);
      assert.equal(reply.status, 410);
      assert.match(detailOf(reply), /start again from a snapshot/i);
      assert.equal((await ask(site, `${path}?since=last`)).status, 400);
    }
  });
});

describe('/api/changes/stream', () => {
  it('sends changes as they come, and resumes after the last event id of a client', async (t) => {
    const site = await openFeed(t);
    const query = `?since=${(await page(site, '')).position}`;
    const stream = await listen(site, {}, query);
    site.vote(2);
    const event = await stream.next();
    const [, id = ''] = /^id: (\S+)\n/.exec(event) ?? [];
    assert.match(event, /"type":"post.votes_changed"/);
    stream.close();
    for (const votes of [3, 4]) site.vote(votes);
    // A browser asks for the same address again, and says in a header how far it came.
    const again = await listen(site, { 'last-event-id': id }, query);
    for (const votes of [3, 4])
      assert.match(await again.next(), new RegExp(`"after":{"votes_count":${votes}}`));
    again.close();
  });

  it('shows that it lives while nothing changes', async (t) => {
    const site = await openFeed(t, { heartbeatMs: 10 });
    const stream = await listen(site);
    while (!stream.raw().includes(': still here')) await new Promise(setImmediate);
    stream.close();
  });

  it('refuses listeners above the limit until one leaves', async (t) => {
    const site = await openFeed(t, { listeners: 1 });
    const first = await listen(site);
    assert.equal((await ask(site, '/api/changes/stream')).status, 503);
    first.close();
    let second = await listen(site);
    while (second.status !== 200) second = await listen(site);
    second.close();
  });
});
