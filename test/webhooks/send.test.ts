import assert from 'node:assert/strict';
import type { lookup as systemLookup } from 'node:dns';
import { describe, it } from 'node:test';
import { createWebhookSender, isPrivate } from '../../src/webhooks/send.ts';

describe('an address', () => {
  it('that is not of the public internet is known as such, from the first of its network to the last', () => {
    const inside = `
      0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255
      169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255
      198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
      :: ::1 ::ffff:8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:1ff::1 2001:db8::1 2002:7f00:1::1
      fc00::1 fdff::1 fe80::1 fe80::1%eth0 febf::1 ff02::1 ::7f00:1 ::ffff:ffff ::ffff:0:7f00:1 ::ffff:0:10.0.0.1
      fec0::1 feff::1 5f00::1 5f00:ffff::1 3fff::1 3fff:fff::1`;
    const outside = `
      1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 172.15.255.255
      172.32.0.1 192.0.1.1 192.167.255.255 192.169.0.1 198.17.255.255 198.20.0.1 223.255.255.255 2001:200::1
      2606:4700::1111 ::1:0:0 ::fffe:0:7f00:1 5eff::1 5f01::1 3ffe::1 3fff:1000::1`;
    const listed = (text: string): string[] => text.trim().split(/\s+/);
    assert.deepEqual(listed(inside).filter(isPrivate), listed(inside));
    assert.deepEqual(listed(outside).filter(isPrivate), []);
  });
});

describe('what an operator allows', () => {
  /** Whether it went so far as to ask for the address of the name, and what was wrong then. */
  async function tried(allow: string[], url: string): Promise<string> {
    const nowhere = new Error('looked up');
    const lookup = (_name: string, _options: object, callback: (error: Error) => void): void =>
      callback(nowhere);
    const sender = createWebhookSender({ allow, lookup: lookup as unknown as typeof systemLookup });
    const post = { url, headers: {}, body: '{}' };
    const { error } = await sender.post(post, new AbortController().signal);
    await sender.close();
    return error ?? '';
  }

  it('is called without encryption too, and nothing else is', async () => {
    assert.match(await tried([], 'http://hook.test/'), /without encryption/);
    assert.match(await tried(['Hook.Test'], 'http://hook.TEST/'), /looked up/);
    assert.match(await tried([], 'https://hook.test/'), /looked up/);
  });

  it('may be a network, and an address outside of it is not called', async () => {
    assert.match(await tried(['10.1.0.0/16'], 'https://10.2.0.1/'), /private network/);
    assert.match(await tried(['10.1.0.0/16'], 'http://[::1]/'), /::1 is an address of a private network/);
  });
});

describe('a message on its way when the service stops', () => {
  it('is no message that the endpoint did not take', async () => {
    const sender = createWebhookSender({ allow: [] });
    const post = { url: 'https://hook.test/', headers: {}, body: '{}' };
    await assert.rejects(sender.post(post, AbortSignal.abort(new Error('stopped'))), /stopped/);
    await sender.close();
  });
});
