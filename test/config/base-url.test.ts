import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { load, problemsOf } from './inputs.ts';

function hrefOf(url: string): string | undefined {
  return load({ env: { FEEDBACK_BASE_URL: url } }).baseUrl?.href;
}

function problemOf(url: string): string {
  const [problem = '', ...more] = problemsOf({ env: { FEEDBACK_BASE_URL: url } });
  assert.deepEqual(more, []);
  return problem;
}

describe('the base URL', () => {
  it('may be https with any host, port and path', () => {
    assert.equal(hrefOf('https://feedback.example.com'), 'https://feedback.example.com/');
    assert.equal(
      hrefOf(' https://feedback.example.com:8443/team/a/ '),
      'https://feedback.example.com:8443/team/a/',
    );
  });

  it('may be http on this machine, in every notation that a URL makes the same', () => {
    const hosts: [string, string][] = [
      ['localhost:3000', 'localhost:3000'],
      ['LOCALHOST', 'localhost'],
      ['127.0.0.1', '127.0.0.1'],
      ['127.255.0.3:81', '127.255.0.3:81'],
      ['127.1', '127.0.0.1'],
      ['0x7f000001', '127.0.0.1'],
      ['2130706433', '127.0.0.1'],
      ['0177.0.0.1', '127.0.0.1'],
      ['[::1]', '[::1]'],
      ['[0:0:0:0:0:0:0:1]:8080', '[::1]:8080'],
    ];
    for (const [host, normal] of hosts) assert.equal(hrefOf(`http://${host}`), `http://${normal}/`);
  });

  it('may not be http anywhere else, however local it looks', () => {
    const hosts = [
      'feedback.example.com',
      '127.0.0.1.evil.com',
      'localhost.evil.com',
      'evil.localhost',
      'localhost.',
      '127.0.0.1%2eevil.com',
      '0.0.0.0',
      '128.0.0.1',
      '0x7f000001.evil.com',
      '169.254.169.254',
      '[::]',
      '[::2]',
      '[fe80::1]',
      // It would reach this machine, but nobody writes it except to slip past a check.
      '[::ffff:127.0.0.1]',
    ];
    for (const host of hosts)
      assert.match(problemOf(`http://${host}`), /must be https, or http on loopback only/, host);
  });

  it('may not be of another scheme', () => {
    for (const url of [
      'ftp://127.0.0.1',
      'file:///etc/passwd',
      'ws://localhost',
      'javascript:alert(1)',
      'localhost:80',
    ])
      assert.match(problemOf(url), /must be https/, url);
  });

  it('may not be something else than a URL', () => {
    for (const text of ['feedback.example.com', 'https://', 'http://127.0.0.256', 'https://a b', '/api'])
      assert.match(problemOf(text), /^FEEDBACK_BASE_URL=".*" must be a URL such as/, text);
  });

  it('may not hold a query or a fragment, not even an empty one', () => {
    for (const tail of ['?token=canary', '?', '#canary', '#', '/a?b#c']) {
      const problem = problemOf(`https://feedback.example.com${tail}`);
      assert.match(problem, /must not have a query or a fragment/);
      assert.doesNotMatch(problem, /canary/);
    }
  });

  it('may not hold credentials, and does not show them when they are refused', () => {
    for (const start of [
      'https://ada:canary@',
      'https://canary@',
      'https://:canary@',
      'https:\\\\ada:canary@',
      'https:ada:canary@',
      'https://a:x/canary@',
    ]) {
      const problem = problemOf(`${start}feedback.example.com/`);
      assert.match(problem, /^FEEDBACK_BASE_URL="https:\/\/\[secret\]@feedback.example.com\/" must/);
      assert.doesNotMatch(problem, /canary/);
    }
  });
});
