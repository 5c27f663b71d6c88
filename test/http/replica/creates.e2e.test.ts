import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { TRANSITIONS } from '../../../src/outbox/decide/states.ts';
import { openReplica } from '../../contract-api/servers.ts';
import { openOnSandbox } from '../../dashboard/site.ts';
import { AS_USER, CREATE, call, create, json, POSTS, type Problem, posts } from '../../sandbox/client.ts';
import { until } from '../../support/until.ts';

/** Longer than any test: what waits so long is never seen to end by itself. */
const DAY_MS = 86_400_000;

interface Accepted {
  detail: string;
  outbox: { id: number; state: string };
}

describe('a create through the mirror', () => {
  it('makes one post upstream with the same words, and answers with its id and URL', async (t) => {
    const api = await openReplica(t);
    const content = ' line one\r\nline two <b>\u{1F680}</b> ';
    const reply = await create(api, { title: ' Spaces stay ', content });
    assert.equal(reply.status, 201);
    const [entry, ...others] = api.world.ledger();
    assert.deepEqual([entry?.title, entry?.content, others], [' Spaces stay ', content, []]);
    const url = `${api.upstream}/b/bugs/p/${entry?.post_id}/`;
    assert.deepEqual(json(reply), { status: 'Success', post_id: entry?.post_id, url });
  });

  it('goes out at once, before the service looks at the outbox by itself', async (t) => {
    const periods = { watch: DAY_MS, tick: DAY_MS, ensure: DAY_MS };
    const { http, station } = await openOnSandbox(t, { withService: true, periods });
    // The service looks once at its start, and is ready after that.
    await until('a ready service', async () => (await call(http, '/readyz')).status === 200);
    const board = station.sandbox.world.boards()[0]?.slug;
    assert.equal((await create(http, { title: 'Now', board })).status, 201);
    assert.deepEqual(station.posted(), ['Now']);
  });

  it('is listed as the upstream shows it when the create is answered', async (t) => {
    const api = await openReplica(t, {}, { isFresh: false });
    const { post_id } = json<{ post_id: number }>(await create(api, { title: 'At once' }));
    const { results } = await posts(api, POSTS);
    assert.deepEqual(results[0], api.world.post(post_id));
    const found = await posts(api, `${POSTS}?search=once`);
    assert.deepEqual(
      found.results.map(({ id }) => id),
      [post_id],
    );
  });

  it('is answered where the newest posts cannot be read, and where they do not show it in time', async (t) => {
    const away = await openReplica(t, {}, { isFresh: false, canReadNewest: false });
    assert.equal((await create(away)).status, 201);
    // An upstream that lists its oldest posts first: no head pass is made.
    const oldest = await openReplica(t, { order: 'oldest' }, { isFresh: false, listedMs: 60 });
    assert.equal((await create(oldest)).status, 201);
  });

  it('answers 202 with the row when the upstream takes longer, and the row tells the rest', async (t) => {
    const api = await openReplica(t, {}, { isSending: false, waitMs: 20 });
    const reply = await create(api);
    assert.equal(reply.status, 202);
    const { detail, outbox } = json<Accepted>(reply);
    assert.match(detail, /safe in the outbox/);
    assert.equal(outbox.state, 'ready');
    const location = String(reply.headers.location);
    assert.equal(location, `/api/v1/outbox/${outbox.id}`);
    assert.deepEqual(json(await call(api, location)), outbox);
    assert.equal((await call(api, '/api/v1/outbox/999')).status, 404);
    assert.equal((await call(api, '/api/v1/outbox/x')).status, 404);
    assert.equal((await call(api, location, { method: 'DELETE' })).status, 405);
  });

  it('passes on what the upstream refused, with its status and reason', async (t) => {
    const api = await openReplica(t, { faults: 'status on=creates code=422 nth=1' });
    const reply = await create(api);
    assert.equal(reply.status, 422);
    const { detail, errors } = json<Problem>(reply);
    assert.match(detail, /^The post was not created\. The upstream refused it: .*422/);
    assert.equal(errors, undefined);
    const nope = await create(api, { board: 'nope' });
    assert.deepEqual([nope.status, Object.keys(json<Problem>(nope).errors ?? {})], [400, ['board']]);
  });

  it('reaches a board that the mirror has never seen a post of', async (t) => {
    // Nobody knows yet in which order an empty list would show its newest post.
    const api = await openReplica(t, { posts: 0 }, { listedMs: 60 });
    assert.equal((await create(api)).status, 201);
  });

  it('with one Idempotency-Key makes one post, however often it is sent', async (t) => {
    const api = await openReplica(t);
    const headers = { 'idempotency-key': 'order 66' };
    const replies = await Promise.all([1, 2, 3].map(() => create(api, {}, { headers })));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]));
    assert.equal(new Set(replies.map(({ body }) => body.toString())).size, 1);
    const other = await create(api, { title: 'Another' }, { headers });
    assert.equal(other.status, 422);
    assert.match(json<Problem>(other).detail, /an earlier post with other content/);
    assert.equal(api.world.ledger().length, 1);
    for (const key of ['', ' ', 'x'.repeat(256), 'caf\u00e9'])
      assert.equal((await create(api, {}, { headers: { 'idempotency-key': key } })).status, 400, key);
  });

  it('without a key is a post of its own each time', async (t) => {
    const api = await openReplica(t);
    const ids = await Promise.all(
      [1, 2].map(async () => json<{ post_id: number }>(await create(api)).post_id),
    );
    assert.equal(new Set(ids).size, 2);
  });

  it('is sent although its client disconnects', async (t) => {
    const api = await openReplica(t, { faults: 'latency on=creates ms=50' });
    const body = JSON.stringify({
      board: 'bugs',
      title: 'T',
      content: '',
      email: 'a@example.com',
      full_name: 'A',
    });
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const outgoing = request(new URL(AS_USER, api.url), { method: 'POST', headers, agent: false });
    outgoing.on('error', () => undefined);
    outgoing.write(body);
    await until('it is on its way', async () => (await api.outbox.counts(null)).sending > 0);
    outgoing.destroy();
    await until('the post is made', () => api.world.ledger().length >= 1);
  });

  it('is answered with 202 when the service stops while it waits', async (t) => {
    const api = await openReplica(t, {}, { isSending: false, waitMs: DAY_MS });
    const waiting = create(api);
    await until('it is in the outbox', async () => (await api.outbox.counts(null)).ready > 0);
    const closed = api.close();
    const reply = await waiting;
    await closed;
    assert.equal(reply.status, 202);
  });

  it('says so when a person cancels its row meanwhile', async (t) => {
    const api = await openReplica(t, {}, { isSending: false });
    const waiting = call(api, CREATE, { body: { board: 'bugs', title: 'T', content: '' } });
    await until('it is in the outbox', async () => (await api.outbox.counts(null)).ready > 0);
    await api.outbox.move(1, TRANSITIONS.cancel, { now: Date.now() });
    const reply = await waiting;
    assert.equal(reply.status, 409);
    assert.match(json<Problem>(reply).detail, /Row 1 of the outbox was cancelled/);
  });
});
