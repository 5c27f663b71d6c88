import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Boards, Created, OutboxDetail, OutboxPage } from '../../src/http/dashboard/outbox.ts';
import { proposePost } from '../../src/outbox/create.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import { ask, detailOf } from '../http/client.ts';
import { range } from '../support/rows.ts';
import { openOnSandbox, type SandboxSite } from './site.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

/** A row that was sent without a clear answer, and for which these posts of the mirror come into question. */
async function uncertainRow({ station }: SandboxSite, candidates: number[]): Promise<number> {
  const [id = 0] = await station.add('Was it made?');
  const { outbox } = station.app;
  const now = Date.now();
  await outbox.claim({ id, transition: TRANSITIONS.claim, now, deadline: now + 1000, listedMaxId: null });
  const change = { now, wasAmbiguous: true as const };
  const end = { id, n: 1, outcome: 'unknown' as const, httpStatus: null, error: 'the answer was cut' };
  await outbox.endAttempt({ ...end, transition: TRANSITIONS.markAmbiguous, change });
  await outbox.move(id, TRANSITIONS.park, { now, candidates, error: '2 posts could be this one' });
  return id;
}

describe('the outbox over HTTP', () => {
  it('lists the newest rows first, page by page, with counts by state', async (t) => {
    const site = await openOnSandbox(t);
    await site.station.add(...Array.from({ length: 120 }, (_, n) => `Wish ${n + 1}`));
    const titles = (from: number, to: number): string[] =>
      range(to, from)
        .map((n) => `Wish ${n}`)
        .reverse();
    for (const filter of ['', 'state=ready&', 'batch=test&', 'state=ready&batch=test&']) {
      const page = async (edge: string) => {
        const { rows, counts, before, after } = await site.get<OutboxPage>(`/data/outbox?${filter}${edge}`);
        assert.equal(counts.ready, 120);
        return { titles: rows.map(({ title }) => title), before, after };
      };
      const first = await page('');
      const second = await page(`before=${first.before}`);
      const third = await page(`before=${second.before}`);
      assert.deepEqual(
        [first.titles, second.titles, third.titles],
        [titles(120, 71), titles(70, 21), titles(20, 1)],
      );
      assert.deepEqual([first.after, third.before], [null, null]);
      assert.deepEqual(await page(`after=${third.after}`), second, 'the way back is the same');
      assert.deepEqual(await page(`after=${second.after}`), first);
    }
  });

  it('filters by state and batch, alone and together', async (t) => {
    const site = await openOnSandbox(t);
    const [first = 0] = await site.station.add('One', 'Two', 'Three');
    await site.post(`/data/outbox/${first}/cancel`);
    const titles = async (query: string) =>
      (await site.get<OutboxPage>(`/data/outbox?${query}`)).rows.map(({ title }) => title);
    assert.deepEqual(await titles('state=cancelled'), ['One']);
    assert.deepEqual(await titles('batch=test'), ['Three', 'Two', 'One']);
    assert.deepEqual(await titles('batch=test&state=ready'), ['Three', 'Two']);
    assert.deepEqual(await titles('batch=another'), []);
  });

  it('shows what an agent proposes, and sends it on once it is approved', async (t) => {
    const site = await openOnSandbox(t);
    const { outbox, clock } = site.station.app;
    const post = { board: 'bugs', title: 'Proposed', content: '', email: null, full_name: null };
    const { id } = proposePost({ store: outbox, clock, random: Math.random }, post);
    const found = await site.get<OutboxPage>('/data/outbox?state=proposed');
    assert.deepEqual(
      [found.rows.map((row) => row.id), found.counts.proposed, found.counts.ready],
      [[id], 1, 0],
    );
    const { can } = await site.get<OutboxDetail>(`/data/outbox/${id}`);
    assert.deepEqual(can, { approve: true, retry: false, cancel: true, resolve: false, edit: true });
    await site.post(`/data/outbox/${id}/approve`);
    assert.equal((await site.get<OutboxDetail>(`/data/outbox/${id}`)).row.state, 'ready');
    const again = await ask(site.http, `/data/outbox/${id}/approve`, { method: 'POST' });
    assert.match(detailOf(again), /cannot be approved: it is ready/);
  });

  it('refuses filters that mean nothing', async (t) => {
    const site = await openOnSandbox(t);
    for (const query of ['state=lost', 'before=-1', 'after=x', 'state=ready&state=sending'])
      assert.equal((await ask(site.http, `/data/outbox?${query}`)).status, 400, query);
    assert.equal((await ask(site.http, '/data/outbox/999')).status, 404);
    assert.equal((await ask(site.http, '/data/outbox/x')).status, 400);
  });

  it('knows the original of a row that was sent, and whether the mirror has its post', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { url } = site.station.sandbox.world.post(11);
    const cases: [post: number, original: string | null, mirrored: number[]][] = [
      [11, new URL(url, site.station.sandbox.url).href, [11]],
      [999, null, []],
    ];
    for (const [post, original, mirrored] of cases) {
      const id = await uncertainRow(site, []);
      await site.post(`/data/outbox/${id}/resolve`, { post });
      const detail = await site.get<OutboxDetail>(`/data/outbox/${id}`);
      assert.deepEqual([detail.original, detail.posts.map((one) => one.id)], [original, mirrored]);
    }
  });

  it('says why nothing is sent', async (t) => {
    const site = await openOnSandbox(t);
    await site.station.app.outbox.setPaused('the upstream refused the token');
    assert.equal((await site.get<OutboxPage>('/data/outbox')).paused, 'the upstream refused the token');
  });

  it('shows a row with its attempts and the posts it could be, in full', async (t) => {
    const site = await openOnSandbox(t);
    site.station.sandbox.world.editPost(3, { title: HOSTILE });
    await site.sweep();
    const id = await uncertainRow(site, [3, 4]);
    const { row, attempts, posts, can } = await site.get<OutboxDetail>(`/data/outbox/${id}`);
    assert.equal(row.content, 'Was it made?, please.');
    assert.deepEqual(
      attempts.map(({ outcome, error }) => [outcome, error]),
      [['unknown', 'the answer was cut']],
    );
    assert.deepEqual(
      posts.map((post) => post.id),
      [3, 4],
    );
    assert.equal(posts[0]?.title, HOSTILE, 'a text of the upstream is data');
    assert.ok(posts.every(({ content, board, creator_email }) => content && board && creator_email));
    assert.deepEqual(can, { approve: false, retry: true, cancel: true, resolve: true, edit: true });
  });

  it('takes each of the three decisions about an uncertain row', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const [a, b, c] = [
      await uncertainRow(site, [3, 4]),
      await uncertainRow(site, []),
      await uncertainRow(site, []),
    ];
    const { row } = await site.post<{ row: OutboxDetail['row'] }>(`/data/outbox/${a}/resolve`, { post: 3 });
    assert.deepEqual([row.state, row.post_id], ['confirmed', 3]);
    assert.ok(row.url, 'with the address the mirror knows');
    await site.post(`/data/outbox/${b}/retry`);
    await site.post(`/data/outbox/${c}/cancel`);
    const states = await Promise.all([a, b, c].map(async (id) => (await site.station.row(id)).state));
    assert.deepEqual(states, ['confirmed', 'ready', 'cancelled']);
  });

  it('takes the same decision twice as one', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const [a, b] = [await uncertainRow(site, [3]), await uncertainRow(site, [])];
    for (const _ of [1, 2]) {
      await site.post(`/data/outbox/${a}/resolve`, { post: 3 });
      await site.post(`/data/outbox/${b}/cancel`);
    }
    assert.equal((await site.station.row(a)).post_id, 3);
  });

  it('refuses decisions that come too late or make no sense, in words', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const [taken, other] = [await uncertainRow(site, [3]), await uncertainRow(site, [4])];
    await site.post(`/data/outbox/${taken}/resolve`, { post: 3 });
    const said = async (path: string, body?: unknown): Promise<string> => {
      const reply = await site.send(path, body);
      assert.equal(reply.status, 400, path);
      return detailOf(reply);
    };
    assert.match(await said(`/data/outbox/${taken}/retry`), /cannot be sent again: it is confirmed already/);
    assert.match(await said(`/data/outbox/${taken}/cancel`), /cannot be cancelled/);
    assert.match(await said(`/data/outbox/${other}/resolve`, { post: 3 }), /already confirms another row/);
    assert.match(await said(`/data/outbox/${other}/resolve`, { post: 'x' }), /whole number/);
    assert.match(await said(`/data/outbox/${other}/resolve`, {}), /"post" is missing/);
    assert.match(await said('/data/outbox/999/retry'), /There is no row 999/);
    assert.equal((await site.station.row(other)).state, 'uncertain');
  });

  it('puts one post in, however often its form is sent', async (t) => {
    const site = await openOnSandbox(t);
    await site.sweep();
    const { boards } = await site.get<Boards>('/data/outbox/boards');
    assert.ok(boards.length > 0);
    const form = { board: boards[0]?.slug, title: HOSTILE, content: 'Please.', key: 'one' };
    const first = await site.post<Created>('/data/outbox', { ...form, email: 'kim@example.com' });
    assert.equal(first.row.title, HOSTILE);
    assert.deepEqual([first.row.kind, first.row.full_name], ['as-user', 'kim']);
    assert.deepEqual(first.notes, ['full_name was taken from the e-mail']);
    const again = await site.post<Created>('/data/outbox', { ...form, email: 'kim@example.com' });
    assert.equal(again.row.id, first.row.id);
    const changed = await site.send('/data/outbox', { ...form, content: 'Other words.' });
    assert.match(detailOf(changed), /already sent with other words/);
    const next = await site.post<Created>('/data/outbox', { ...form, key: 'two' });
    assert.notEqual(next.row.id, first.row.id);
    assert.equal(next.row.kind, 'owner');
  });

  it('refuses a post that is none', async (t) => {
    const site = await openOnSandbox(t);
    for (const body of [
      {},
      { board: 'bugs', key: 'k' },
      { board: 'bugs', title: 'x', email: 'nobody', key: 'k' },
      { board: 'bugs', title: ['x'], key: 'k' },
      { board: 'bugs', title: 'x' },
    ]) {
      const reply = await site.send('/data/outbox', body);
      assert.equal(reply.status, 400, reply.body);
    }
    assert.equal((await site.get<OutboxPage>('/data/outbox')).rows.length, 0);
  });

  it('takes no change from the page of a stranger', async (t) => {
    const site = await openOnSandbox(t);
    const [id] = await site.station.add('Mine');
    const headers = { 'content-type': 'application/json', origin: 'http://evil.example' };
    const { status } = await ask(site.http, `/data/outbox/${id}/cancel`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    assert.equal(status, 403);
    assert.equal((await site.station.row(id ?? 0)).state, 'ready');
  });
});
