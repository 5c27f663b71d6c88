import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AddedWebhook, DeliveriesPage, WebhooksPage } from '../../src/http/dashboard/webhooks.ts';
import type { ReceiverAnswer } from '../../src/webhooks/send.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { openOnSandbox } from './site.ts';

describe('the webhooks over HTTP', () => {
  it('are none where none is set', async (t) => {
    const site = await openOnSandbox(t);
    assert.deepEqual(await site.get<WebhooksPage>('/data/webhooks'), { webhooks: [] });
    const { status, body } = await site.send('/data/webhooks/default/test');
    assert.equal(status, 400);
    assert.match(body, /There is no webhook/);
  });

  it('are listed with their host and not their address, take a test event and a change once more', async (t) => {
    const receiver = await openReceiver(t);
    const site = await openOnSandbox(t, {
      env: {
        WEBHOOK_URL: `${receiver.url}?key=secret-of-the-address`,
        WEBHOOK_SECRET: Buffer.alloc(32, 1).toString('base64'),
        WEBHOOK_ALLOW: '127.0.0.1',
      },
    });
    await site.sweep();
    site.station.sandbox.world.addPost({ title: 'New' });
    await site.sweep();
    const listed = await site.ask('/data/webhooks');
    assert.doesNotMatch(listed.body, /secret-of-the-address|AQEBAQ/);
    const [webhook] = (JSON.parse(listed.body) as WebhooksPage).webhooks;
    assert.ok(webhook);
    assert.match(webhook.host, /^127\.0\.0\.1/);
    assert.deepEqual([webhook.format, webhook.last], ['standard', null]);

    const test = await site.post<ReceiverAnswer>(`/data/webhooks/${webhook.id}/test`);
    assert.equal(test.status, 204);
    assert.match(receiver.received[0]?.headers['webhook-signature']?.toString() ?? '', /^v1,/);

    const { changes } = await site.get<{ changes: { number: number; type: string }[] }>(
      '/api/changes?since=0',
    );
    const number = changes.find(({ type }) => type === 'post.created')?.number;
    await site.post(`/data/webhooks/${webhook.id}/replay`, { change: number });
    assert.deepEqual(receiver.numbers().slice(-1), [number]);
    const { deliveries } = await site.get<DeliveriesPage>(`/data/webhooks/${webhook.id}`);
    assert.ok(deliveries.length >= 1);
    const enabled = await site.post<WebhooksPage>(`/data/webhooks/${webhook.id}/enable`);
    assert.equal(enabled.webhooks[0]?.id, webhook.id);
  });

  it('are added with a key that is shown once, paused, told again and removed', async (t) => {
    const receiver = await openReceiver(t);
    const env = { WEBHOOK_ALLOW: '127.0.0.1' };
    const site = await openOnSandbox(t, { env });
    const wish = { url: `${receiver.url}?key=secret-of-the-address`, name: 'mine', types: 'post.*' };
    const added = await site.post<AddedWebhook>('/data/webhooks', wish);
    assert.match(added.secret ?? '', /^whsec_[A-Za-z0-9+/=]{44}$/);
    assert.deepEqual(
      added.webhooks.map(({ id, isOwn, types }) => ({ id, isOwn, types })),
      [{ id: 'mine', isOwn: true, types: ['post.*'] }],
    );
    const listed = await site.ask('/data/webhooks');
    assert.doesNotMatch(listed.body, /secret-of-the-address|whsec_/);
    assert.match((await site.send('/data/webhooks', wish)).body, /There is a webhook .*mine.* already/);
    for (const [url, why] of [
      ['ftp://x', /must be a URL/],
      ['http://example.com/hook', /called without encryption/],
      ['https://10.0.0.1/hook', /an address of a private network/],
    ] as const)
      assert.match((await site.send('/data/webhooks', { url, format: 'slack' })).body, why);

    assert.equal((await site.post<ReceiverAnswer>('/data/webhooks/mine/test')).status, 204);
    const paused = await site.post<WebhooksPage>('/data/webhooks/mine/pause');
    assert.equal(paused.webhooks[0]?.disabled_why, 'a person paused it');
    const enabled = await site.post<WebhooksPage>('/data/webhooks/mine/enable');
    assert.equal(enabled.webhooks[0]?.disabled_why, null);
    const left = await site.post<WebhooksPage>('/data/webhooks/mine/remove');
    assert.deepEqual(left.webhooks, []);
  });

  it('of the settings stay', async (t) => {
    const secret = Buffer.alloc(32, 1).toString('base64');
    const env = { WEBHOOK_URL: 'https://example.com/hook', WEBHOOK_SECRET: secret };
    const site = await openOnSandbox(t, { env });
    const { webhooks } = await site.get<WebhooksPage>('/data/webhooks');
    const refused = await site.send(`/data/webhooks/${webhooks[0]?.id}/remove`);
    assert.equal(refused.status, 400);
    assert.match(refused.body, /one of the settings/);
  });
});
