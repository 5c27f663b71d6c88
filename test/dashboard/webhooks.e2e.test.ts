import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeliveriesPage, WebhooksPage } from '../../src/http/dashboard/webhooks.ts';
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
});
