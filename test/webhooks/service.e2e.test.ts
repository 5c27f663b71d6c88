import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openFixture } from '../service/fixture.ts';
import { until } from '../support/until.ts';
import { openReceiver } from './receiver.ts';

describe('a service with a webhook', () => {
  it('tells every change in order, also after the receiver failed and the service was started again', async (t) => {
    const receiver = await openReceiver(t);
    const fixture = await openFixture(t, {
      queueUrl: null,
      env: {
        WEBHOOK_URL: receiver.url,
        WEBHOOK_SECRET: Buffer.alloc(32, 1).toString('base64'),
        WEBHOOK_ALLOW: '127.0.0.1',
        SYNC_SWEEP_EVERY: '1h',
      },
    });
    const { world } = fixture.sandbox;
    const first = await fixture.start();
    await until('the first sweeps are complete', () =>
      first.app.state.lastPasses().every(({ mode, finishedAt }) => mode === 'head' || finishedAt !== null),
    );
    world.addPost({ title: 'One' });
    // Asked for again and again: a sweep that is just ending keeps the next one out of the queue.
    const swept = (what: string, isSo: () => boolean): Promise<void> =>
      until(what, async () => {
        await first.requestSync('posts', 'sweep');
        return isSo();
      });
    await swept('the first post is told', () => receiver.received.length === 1);
    receiver.plan.push(500);
    for (const title of ['Two', 'Three']) world.addPost({ title });
    await swept('an attempt fails', () => receiver.plan.length === 0);
    await first.close();
    await first.app.close();
    const second = await fixture.start();
    await until('the rest is told', () => receiver.numbers().length >= 3);
    const titles = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { post: { title: string } } }).data.post.title,
    );
    assert.deepEqual([...new Set(titles)], ['One', ...titles.slice(1, 2), titles.at(-1) ?? '']);
    assert.deepEqual(
      receiver.numbers(),
      receiver.numbers().toSorted((a, b) => a - b),
    );
    await second.close();
  });
});
