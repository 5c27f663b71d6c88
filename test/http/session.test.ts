import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { Secret } from '../../src/base/secret.ts';
import { slowGuesses } from '../../src/http/server/guesses.ts';
import { createSession, localPath } from '../../src/http/server/session.ts';
import { fakeClock } from '../support/clock.ts';

const HOUR = 3_600_000;

function sessionOf(token = 'the token', keptKey = 'a key of the mirror') {
  const clock = fakeClock();
  const kept = new Map<string, number>();
  const ended = {
    key: () => keptKey,
    has: (id: string) => kept.has(id),
    add: (id: string, until: number) => void kept.set(id, until),
  };
  const session = createSession(new Secret(token), { ended, now: clock.now });
  const request = (cookie?: string) => ({ headers: { cookie } }) as IncomingMessage;
  const open = (isSecure = false): string => session.open(isSecure).split(';')[0] ?? '';
  return { session, clock, kept, request, open };
}

describe('a session', () => {
  it('holds for twelve hours, in a cookie that no page of another can use', () => {
    const { session, clock, request, open } = sessionOf();
    const [cookie, ...flags] = session.open(false).split('; ');
    assert.deepEqual(flags, ['Max-Age=43200', 'Path=/', 'HttpOnly', 'SameSite=Strict']);
    assert.equal(session.open(true).split('; ').at(-1), 'Secure');
    assert.equal(session.isOpen(request(`other=1; ${cookie}; more=2`)), true);
    assert.equal(session.isOpen(request()), false);
    clock.advance(12 * HOUR - 1);
    assert.equal(session.isOpen(request(cookie)), true);
    clock.advance(1);
    assert.equal(session.isOpen(request(cookie)), false);
    assert.equal(session.isOpen(request(open())), true);
  });

  it('that was logged out is invalid also for a copied cookie, and other sessions stay valid', () => {
    const { session, clock, request, open, kept } = sessionOf();
    const [one, two] = [open(), open()];
    assert.match(session.close(request(one)), /=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.deepEqual([session.isOpen(request(one)), session.isOpen(request(two))], [false, true]);
    assert.deepEqual(
      [...kept.values()],
      [clock.now() + 12 * HOUR],
      'it is remembered for as long as it would hold',
    );
    session.close(request('feedback-mirror-x=forged'));
    assert.equal(kept.size, 1);
  });

  it('cannot be extended, or used with another token or another mirror', () => {
    const { session, request, open } = sessionOf();
    const [name, value = ''] = open().split('=');
    const [until, id, signature] = value.split('.');
    for (const forged of [
      `${Number(until) + HOUR}.${id}.${signature}`,
      `${until}.other.${signature}`,
      `${until}.${id}.`,
    ])
      assert.equal(session.isOpen(request(`${name}=${forged}`)), false, forged);
    for (const other of [sessionOf('another token'), sessionOf('the token', 'another mirror')]) {
      assert.equal(other.session.isOpen(request(open())), false);
      const theirs = other.open().split('=')[0];
      assert.notEqual(theirs, name, 'two mirrors on one machine');
      assert.equal(other.session.isOpen(request(`${theirs}=${value}`)), false);
    }
  });

  it('is opened by the token and by nothing else', () => {
    const { session } = sessionOf();
    assert.deepEqual(['the token', 'the toke', 'the token ', ''].map(session.isToken), [
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('a wrong token', () => {
  it('delays the answer up to sixteen seconds for that address alone', async () => {
    const clock = fakeClock();
    const { wrong } = slowGuesses(clock);
    for (let n = 0; n < 7; n++) await wrong('10.0.0.1');
    await wrong('10.0.0.2');
    assert.deepEqual(clock.slept, [1000, 2000, 4000, 8000, 16_000, 16_000, 16_000, 1000]);
  });

  it('is forgiven after a minute, counted from the last', async () => {
    const clock = fakeClock();
    const { wrong } = slowGuesses(clock);
    await wrong('10.0.0.1');
    clock.advance(58_999);
    await wrong('10.0.0.1');
    clock.advance(58_000);
    await wrong('10.0.0.1');
    assert.deepEqual(clock.slept, [1000, 2000, 1000]);
    clock.set(clock.now() - HOUR);
    await wrong('10.0.0.1');
    assert.equal(clock.slept.at(-1), 1000, 'a clock that was set back makes nobody wait');
  });

  it('is counted for a limited number of the latest addresses', async () => {
    const clock = fakeClock();
    clock.sleep = async (ms) => void clock.slept.push(ms);
    const { wrong } = slowGuesses(clock);
    await wrong('first');
    await wrong('second');
    await wrong('first');
    for (let n = 0; n < 999; n++) await wrong(`10.0.${n >> 8}.${n & 255}`);
    await wrong('first');
    await wrong('second');
    assert.deepEqual(clock.slept.slice(-2), [4000, 1000]);
  });

  it('is refused at once while 64 others wait', async () => {
    const clock = fakeClock();
    clock.sleep = (_ms, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const { wrong } = slowGuesses(clock);
    const clients = Array.from({ length: 64 }, () => new EventEmitter() as ServerResponse);
    const waiting = clients.map((client, n) => wrong(`10.0.0.${n}`, client));
    assert.equal(await wrong('10.0.1.0'), false);
    clients[0]?.emit('close');
    assert.equal(await waiting[0], true);
    const [later, client] = [Promise.withResolvers<boolean>(), new EventEmitter() as ServerResponse];
    void wrong('10.0.1.1', client).then(later.resolve);
    client.emit('close');
    assert.equal(await later.promise, true);
  });
});

describe('where a login leads to', () => {
  it('is an address of this service', () => {
    assert.equal(localPath('/posts?board=ideas'), '/posts?board=ideas');
    for (const elsewhere of [
      '',
      'posts',
      '//evil.test',
      '/\\evil.test',
      '/.//evil.test',
      '/%2e//evil.test',
      'https://evil.test',
    ])
      assert.equal(localPath(elsewhere), '/', elsewhere);
  });
});
