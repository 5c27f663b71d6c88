import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Client } from '../../src/api/client.ts';
import type { App } from '../../src/app.ts';
import { AppError } from '../../src/base/errors.ts';
import { TRANSITIONS } from '../../src/outbox/decide/states.ts';
import type { StateCounts } from '../../src/outbox/decide/types.ts';
import { sendAndWait } from '../../src/service/wait.ts';
import { until } from '../support/until.ts';
import { hasSwept, openFixture } from './fixture.ts';

const QUEUE = { queueUrl: null };
const SLOW = { PUSH_PER_MINUTE: '120' };
/** On a busy machine a service takes seconds to start: the rows must not be over by then. */
const SLOWER = { PUSH_PER_MINUTE: '30' };

function wait(app: App, changes: Partial<Parameters<typeof sendAndWait>[1]> = {}): Promise<StateCounts> {
  const { signal } = new AbortController();
  return sendAndWait(app, { batches: ['ours'], signal, ...changes });
}

function restoreEnv(folder: string | undefined): void {
  if (folder === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = folder;
}

describe('sending and waiting in a command', () => {
  it('sends the rows of its batches, tells how far it is, and leaves other rows and no files', async (t) => {
    const fixture = await openFixture(t, QUEUE);
    const { TMPDIR } = process.env;
    t.after(() => restoreEnv(TMPDIR));
    process.env.TMPDIR = fixture.folder;
    await fixture.addTo('theirs', 'Theirs');
    await fixture.addTo('ours', 'One', 'Two');
    await fixture.addTo('more', 'Three');
    const told: number[] = [];
    const counts = await wait(fixture.app, {
      batches: ['ours', 'more'],
      onProgress: ({ ready, sending, confirmed }) => void told.push(ready + sending + confirmed),
    });
    assert.equal(counts.confirmed, 3);
    assert.deepEqual(fixture.posted(), ['One', 'Two', 'Three']);
    assert.ok(told.length > 0 && told.every((rows) => rows === 3), String(told));
    assert.ok(!readdirSync(fixture.folder).some((name) => name.startsWith('feedback-mirror-')));
  });

  it('sends the rows of the next batch while a row of the one before is unclear', async (t) => {
    const fixture = await openFixture(t, QUEUE);
    const { outbox, clock } = fixture.app;
    await fixture.addTo('ours', 'One');
    const [id = 0] = outbox.idsOf('ours', 'ready');
    const now = clock.now();
    outbox.claim({ id, transition: TRANSITIONS.claim, now, deadline: now, listedMaxId: null });
    outbox.move(id, TRANSITIONS.markAmbiguous, { now, notBefore: now + 3_600_000, wasAmbiguous: true });
    await fixture.addTo('more', 'Two');
    const stop = new AbortController();
    const waiting = wait(fixture.app, { batches: ['ours', 'more'], signal: stop.signal });
    await until('the row of the next batch is sent', () => fixture.posted().includes('Two'));
    stop.abort(new AppError('interrupted', 'stopped'));
    await assert.rejects(waiting, { code: 'interrupted' });
    assert.deepEqual([outbox.counts('ours').ambiguous, outbox.counts('more').confirmed], [1, 1]);
  });

  it('leaves the lock to a service that comes, after the row at hand, and watches it send each other row once', async (t) => {
    const fixture = await openFixture(t, QUEUE);
    await fixture.addTo('ours', 'One', 'Two', 'Three', 'Four');
    const waiting = wait(await fixture.openApp(SLOWER));
    await until('a post', () => fixture.posted().length >= 1);
    const service = await fixture.start(SLOWER);
    await until('the service sends', async () => (await service.progress()).outbox.isSender);
    assert.ok(fixture.posted().length < 4);
    assert.equal((await waiting).confirmed, 4);
    assert.deepEqual(
      fixture.posted().toSorted((a, b) => a.localeCompare(b)),
      ['Four', 'One', 'Three', 'Two'],
    );
  });

  it('sends nothing while another process has the lock, and does not wait for a service that is gone', async (t) => {
    const fixture = await openFixture(t, QUEUE);
    const [holder, gone] = [fixture.app.outbox, (await fixture.openApp()).outbox];
    const lock = holder.lockSender();
    assert.ok(lock.ok && !gone.lockSenderFirst().ok);
    assert.equal(holder.isSenderWanted(), true);
    await fixture.addTo('ours', 'One');
    let looks = 0;
    const waiting = wait(await fixture.openApp(), { onProgress: () => void looks++ });
    await until('it has looked twice', () => looks >= 2);
    assert.equal(fixture.sandbox.requestCount, 0);
    lock.release();
    await gone.close();
    assert.equal((await waiting).confirmed, 1);
  });

  it('stops after the row at hand when it is told to, with the reason', async (t) => {
    const fixture = await openFixture(t, { ...QUEUE, sandbox: { faults: 'latency ms=300 on=creates' } });
    await fixture.addTo('ours', 'One', 'Two');
    const stop = new AbortController();
    const waiting = wait(await fixture.openApp(SLOW), { signal: stop.signal });
    await until('a create', () => fixture.sandbox.requests.some(({ method }) => method === 'POST'));
    stop.abort(new AppError('interrupted', 'stopped by a test'));
    await assert.rejects(waiting, { code: 'interrupted' });
    const { confirmed, ready } = await fixture.app.outbox.counts('ours');
    assert.deepEqual({ confirmed, ready }, { confirmed: 1, ready: 1 });
  });

  it('looks for a post whose answer was lost as soon as that has settled, without a service', async (t) => {
    const fixture = await openFixture(t, { ...QUEUE, sandbox: { faults: 'reset-after on=creates times=1' } });
    await fixture.addTo('ours', 'One');
    const app = await fixture.openApp();
    let ahead = 0;
    const clock = {
      ...app.clock,
      now: () => app.clock.now() + ahead,
      monotonic: () => app.clock.monotonic() + ahead,
      // It sleeps until the answer has settled, and would not notice that the time has gone on.
      sleep: (ms: number, signal?: AbortSignal) => app.clock.sleep(Math.min(ms, 50), signal),
    };
    const waiting = wait({ ...app, clock });
    await until('it is unclear', () => fixture.app.outbox.counts('ours').ambiguous === 1);
    // The row has settled, and the time of an outage is not over.
    ahead = 95_000;
    assert.equal((await waiting).confirmed, 1);
    assert.deepEqual(fixture.posted(), ['One']);
  });

  it('gives up when all answers of the upstream break off while rows are settling', async (t) => {
    const fixture = await openFixture(t, {
      ...QUEUE,
      sandbox: { faults: 'reset-after on=creates; reset on=lists' },
    });
    await fixture.addTo('ours', 'One');
    const app = await fixture.openApp();
    let ahead = 0;
    const clock = { ...app.clock, monotonic: () => app.clock.monotonic() + ahead };
    const waiting = wait({ ...app, clock });
    await until('it is unclear', () => fixture.app.outbox.counts('ours').ambiguous === 1);
    ahead = 600_000;
    await assert.rejects(waiting, { code: 'unreachable', message: /gave no usable answer for 2 min: / });
    assert.equal(fixture.app.outbox.counts('ours').ambiguous, 1);
    assert.deepEqual(fixture.posted(), ['One']);
  });

  it('does not give up an upstream that said how long to wait, or asks to slow down', async (t) => {
    const fixture = await openFixture(t, QUEUE);
    await fixture.addTo('ours', 'One');
    const app = await fixture.openApp();
    const stop = new AbortController();
    let [isSent, ahead] = [false, 0];
    const clock = { ...app.clock, monotonic: () => app.clock.monotonic() + ahead };
    const client: Client = {
      ...app.client,
      async create() {
        app.gate.record(503);
        app.gate.closeUntil(app.clock.now() + 60_000);
        isSent = true;
        return { outcome: 'unknown', reason: 'it answered 503', httpStatus: 503, serverTime: null };
      },
    };
    const progress = (): void => {
      if (ahead > 0) stop.abort(new AppError('interrupted', 'stopped by a test'));
      if (isSent) ahead = 600_000;
    };
    const options = { signal: stop.signal, onProgress: progress };
    await assert.rejects(wait({ ...app, clock, client }, options), { code: 'interrupted' });
  });

  it('gives up a list in which what it sent cannot be looked for, because it is never whole', async (t) => {
    const fixture = await openFixture(t, { ...QUEUE, sandbox: { faults: 'reset on=creates times=1' } });
    const service = await fixture.start();
    await until('the posts are mirrored', () => hasSwept(service));
    await service.close();
    await fixture.addTo('ours', 'One');
    const app = await fixture.openApp();
    let ahead = 0;
    const clock = {
      ...app.clock,
      now: () => app.clock.now() + ahead,
      monotonic: () => app.clock.monotonic() + ahead,
      sleep: (ms: number, signal?: AbortSignal) => app.clock.sleep(Math.min(ms, 50), signal),
    };
    const client: Client = {
      ...app.client,
      async *posts(options) {
        for await (const page of app.client.posts(options))
          yield { ...page, receivedAt: page.receivedAt + ahead, rows: page.rows.slice(0, 1) };
      },
    };
    const waiting = wait({ ...app, clock, client });
    const { outbox } = fixture.app;
    const error = (): string => outbox.list({ batch: 'ours', limit: 1 })[0]?.last_error ?? '';
    await until('it is unclear', () => outbox.counts('ours').ambiguous === 1);
    ahead = 95_000;
    await until('it was looked for', () => /showed 3 of the 12 posts/.test(error()));
    ahead += 600_000;
    await assert.rejects(waiting, {
      code: 'unreachable',
      message: /no whole list for 2 min: .* 3 of the 12/,
    });
    assert.equal(outbox.counts('ours').ambiguous, 1);
  });

  it('is done where it is told to stop and what was on its way is all there was', async (t) => {
    const fixture = await openFixture(t, QUEUE);
    const stop = new AbortController();
    const client: Client = {
      ...fixture.app.client,
      create(post, signal) {
        stop.abort(new AppError('interrupted', 'stopped'));
        return fixture.app.client.create(post, signal);
      },
    };
    await fixture.addTo('ours', 'One');
    const counts = await wait({ ...fixture.app, client }, { signal: stop.signal });
    assert.equal(counts.confirmed, 1);
    await fixture.addTo('ours', 'Two', 'Three');
    await assert.rejects(wait({ ...fixture.app, client }, { signal: stop.signal }), { code: 'interrupted' });
  });

  it('ends when the token is refused, and resumes with a valid one', async (t) => {
    const fixture = await openFixture(t, QUEUE);
    await fixture.addTo('ours', 'One');
    const wrong = await fixture.openApp({ FEEDBACK_API_TOKEN: 'wrong' });
    for (let n = 0; n < 2; n++) await assert.rejects(wait(wrong), { code: 'unauthorised' });
    assert.equal((await wait(fixture.app)).confirmed, 1);
  });
});
