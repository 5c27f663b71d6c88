import assert from 'node:assert/strict';
import type { lookup as systemLookup } from 'node:dns';
import { describe, it } from 'node:test';
import { createWebhookSender } from '../../src/webhooks/send.ts';
import { openReceiver } from './receiver.ts';

const signal = new AbortController().signal;
const message = { headers: {}, body: '{}' };

/** Names resolve to these addresses, one answer after the other. */
function resolver(...answers: string[]): typeof systemLookup {
  const fake = (_name: string, _options: object, callback: (error: null, found: object[]) => void): void =>
    callback(null, [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]);
  return fake as unknown as typeof systemLookup;
}

describe('a webhook sender', () => {
  it('calls no address of a private network, however it is spelt, unless it is listed', async (t) => {
    const receiver = await openReceiver(t);
    const { port } = receiver;
    const hosts = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      'name.test',
      'localhost',
    ];
    const sender = createWebhookSender({ allow: ['10.0.0.0/8'], lookup: resolver() });
    for (const host of hosts)
      for (const scheme of ['http', 'https']) {
        const { error, status } = await sender.post(
          { url: `${scheme}://${host}:${port}/`, ...message },
          signal,
        );
        assert.ok(error !== null && status === null, `${scheme}://${host} was called`);
      }
    assert.equal(receiver.connections(), 0);
    await sender.close();
  });

  it('connects to the address that was checked, and not to what the name says a moment later', async (t) => {
    const receiver = await openReceiver(t);
    // The second answer would be the receiver itself, as of a name that was made to point at us after the check.
    const sender = createWebhookSender({
      allow: ['hook.test'],
      lookup: resolver('127.0.0.1', '169.254.169.254'),
    });
    const url = `http://hook.test:${receiver.port}/`;
    assert.equal((await sender.post({ url, ...message }, signal)).status, 204);
    await sender.close();
    const wary = createWebhookSender({ allow: [], lookup: resolver('169.254.169.254') });
    assert.match(
      (await wary.post({ url: `https://hook.test:${receiver.port}/`, ...message }, signal)).error ?? '',
      /private network/,
    );
    await wary.close();
  });

  it('calls no name of which one address of several is in a private network', async (t) => {
    const receiver = await openReceiver(t);
    const both = ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 }));
    const lookup = (
      _name: string,
      _options: object,
      callback: (error: null, found: object[]) => void,
    ): void => callback(null, both);
    // Nobody listens at the first address, so that a connection would be tried with the second.
    const sender = createWebhookSender({
      allow: ['127.0.0.2'],
      lookup: lookup as unknown as typeof systemLookup,
    });
    const url = `https://hook.test:${receiver.port}/`;
    assert.match((await sender.post({ url, ...message }, signal)).error ?? '', /hook\.test is 127\.0\.0\.1/);
    assert.equal(receiver.connections(), 0);
    await sender.close();
  });

  it('follows no redirect', async (t) => {
    const receiver = await openReceiver(t);
    const sender = createWebhookSender({ allow: ['127.0.0.1'] });
    receiver.plan.push(307, 'die');
    assert.match(
      (await sender.post({ url: receiver.url, ...message }, signal)).error ?? '',
      /redirects are not followed/,
    );
    assert.equal((await sender.post({ url: receiver.url, ...message }, signal)).status, null);
    assert.equal(receiver.received.length, 2);
    await sender.close();
  });

  it('waits no longer than its limit', async (t) => {
    const receiver = await openReceiver(t);
    const sender = createWebhookSender({ allow: ['127.0.0.1'], timeoutMs: 50 });
    receiver.plan.push('stall');
    assert.match(
      (await sender.post({ url: receiver.url, ...message }, signal)).error ?? '',
      /no answer within 0.05 s/,
    );
    await sender.close();
  });
});
