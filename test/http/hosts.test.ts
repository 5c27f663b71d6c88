import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOriginOf, isOurHost, urlOf } from '../../src/http/server/guard.ts';

const HOSTILE = [
  'evil.com',
  'evil.com:8080',
  'localhost.evil.com',
  'localhost.evil.com:8080',
  'localhost.:8080',
  '127.0.0.1.evil.com:8080',
  '127.0.0.1.nip.io:8080',
  'user@127.0.0.1:8080',
  '127.0.0.1:8080@evil.com',
  '127.0.0.1:8080, evil.com',
  '127.0.0.1:8080 evil.com',
  '127.0.0.1:8080/',
  '127.0.0.1:',
  '127.1:8080',
  '2130706433:8080',
  '[::1',
  '::1:8080',
  '[::1%25lo]:8080',
  ':8080',
  '',
];

describe('the names that an operator gave a service', () => {
  it('are answered to with any port, and no others', () => {
    for (const host of ['127.0.0.1', '0.0.0.0']) {
      const listening = { host, port: 8080, names: ['mirror.example.com', 'feedback-mirror'] };
      for (const name of ['mirror.example.com', 'Mirror.Example.com:443', 'feedback-mirror:8080'])
        assert.equal(isOurHost(name, listening), true, name);
      for (const name of ['example.com', 'evil.mirror.example.com', 'mirror.example.com.'])
        assert.equal(isOurHost(name, listening), false, name);
    }
  });
});

describe('an address that an operator gave a service', () => {
  it('is answered to as a URL has it, however it was written', () => {
    for (const given of ['fd00::1', '[fd00::1]', 'FD00:0:0::1'])
      assert.equal(
        isOurHost('[fd00::1]:8080', { host: '127.0.0.1', port: 8080, names: [given] }),
        true,
        given,
      );
  });
});

describe('the origin of a page', () => {
  it('matches the service with the port that a proxy adds or a browser omits, and with no other port', () => {
    const named: [origin: string, host: string, isOurs: boolean][] = [
      ['https://mirror.example.com', 'mirror.example.com', true],
      ['https://mirror.example.com', 'Mirror.example.com:443', true],
      ['http://mirror.example.com', 'mirror.example.com:80', true],
      ['https://mirror.example.com:8443', 'mirror.example.com:8443', true],
      ['https://mirror.example.com:8443', 'mirror.example.com', false],
      ['https://mirror.example.com', 'mirror.example.com:80', false],
      ['https://evil.com', 'mirror.example.com', false],
      ['null', 'mirror.example.com', false],
      ['file://', '', false],
    ];
    for (const [origin, host, isOurs] of named)
      assert.equal(isOriginOf(origin, host), isOurs, `${origin} of ${host}`);
  });
});

describe('the names of a service on loopback', () => {
  const listening = { host: '127.0.0.1', port: 8080 };

  it('are the loopback names with its port', () => {
    for (const host of ['127.0.0.1:8080', 'localhost:8080', 'LocalHost:8080', '[::1]:8080'])
      assert.equal(isOurHost(host, listening), true, host);
  });

  it('do not include other names', () => {
    const others = [
      '127.0.0.1',
      'localhost',
      '127.0.0.1:8081',
      '127.0.0.2:8080',
      '192.168.0.7:8080',
      '[::2]:8080',
    ];
    for (const host of [...HOSTILE, ...others]) assert.equal(isOurHost(host, listening), false, host);
  });

  it('need no port where it is the usual one', () => {
    assert.equal(isOurHost('localhost', { host: 'localhost', port: 80 }), true);
  });

  it('include the configured one', () => {
    assert.equal(isOurHost('127.0.0.5:8080', { host: '127.0.0.5', port: 8080 }), true);
    assert.equal(isOurHost('[::1]:8080', { host: '::1', port: 8080 }), true);
  });
});

describe('the names of a service that others can reach', () => {
  it('include IP addresses with any port, because ports can be mapped', () => {
    for (const host of [
      '192.168.0.7:8080',
      '10.0.0.1',
      '[2001:db8::1]:9000',
      'localhost:9000',
      '127.0.0.1:9000',
    ])
      assert.equal(isOurHost(host, { host: '0.0.0.0', port: 8080 }), true, host);
  });

  it('include only its own host names', () => {
    for (const host of HOSTILE.filter((name) => name !== '127.0.0.1:'))
      assert.equal(isOurHost(host, { host: '0.0.0.0', port: 8080 }), false, host);
    const named = { host: 'mirror.internal', port: 8080 };
    assert.equal(isOurHost('Mirror.internal', named), true);
    assert.equal(isOurHost('mirror.internal.evil.com', named), false);
    assert.equal(isOurHost('other.internal', named), false);
  });
});

describe('the address of a service', () => {
  const cases: [host: string, url: string][] = [
    ['127.0.0.1', 'http://127.0.0.1:81'],
    ['localhost', 'http://localhost:81'],
    ['::1', 'http://[::1]:81'],
    ['[::1]', 'http://[::1]:81'],
    ['0.0.0.0', 'http://127.0.0.1:81'],
    ['::', 'http://[::1]:81'],
    ['mirror.internal', 'http://mirror.internal:81'],
  ];
  it('can be opened in a browser', () => {
    for (const [host, url] of cases) assert.equal(urlOf({ host, port: 81 }), url);
  });
});
