import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secretsOf } from '../../config/load.ts';
import { cron, hostName, queueUrl, retention, timeZone } from '../../config/parse.ts';
import { load, problemsOf } from './inputs.ts';

describe('a cron pattern', () => {
  it('has five fields, six with seconds, or a name', () => {
    for (const pattern of ['30 2 * * *', '*/10 * * * * *', '0 9 * * 1-5', '@daily', '0 9 * * MON#2'])
      assert.equal(cron(` ${pattern} `), pattern);
  });

  it('is refused when it has too few fields, makes no sense, or never comes true', () => {
    for (const pattern of [
      '* * *',
      '61 * * * *',
      'nonsense',
      '0 0 31 2 *',
      '0 0 31 4,6 *',
      '@sometimes',
      '* * * * * * *',
    ])
      assert.throws(() => cron(pattern), /must be a cron pattern that comes true/, pattern);
  });
});

describe('a time zone', () => {
  it('must be known to the machine', () => {
    assert.equal(timeZone('Europe/Berlin'), 'Europe/Berlin');
    assert.throws(() => timeZone('Nowhere/Else'), /such as UTC or Europe\/Berlin/);
  });

  it('may be the name of a file, as C libraries have it, and is then the one of the machine', () => {
    assert.equal(timeZone(':/etc/localtime'), Intl.DateTimeFormat().resolvedOptions().timeZone);
  });
});

describe('the address of the service', () => {
  it('is a host without a port', () => {
    for (const host of ['127.0.0.1', 'localhost', '::1', '0.0.0.0', 'mirror.example.com'])
      assert.equal(hostName(host), host);
    for (const host of ['127.0.0.1:80', 'http://localhost', 'a b', '', 'a/b'])
      assert.throws(() => hostName(host), /must be an address or a host name/, host);
  });

  it('needs a token where others can reach it', () => {
    assert.equal(load({ env: { HTTP_HOST: '::1' } }).httpHost, '::1');
    const HTTP_TOKEN = 'abcdefgh-1234567';
    assert.equal(load({ env: { HTTP_HOST: '0.0.0.0', HTTP_TOKEN } }).httpHost, '0.0.0.0');
    assert.equal(load({ env: { HTTP_TOKEN: 'abcd' } }).httpHost, '127.0.0.1');
    const short = problemsOf({ env: { HTTP_HOST: '0.0.0.0', HTTP_TOKEN: HTTP_TOKEN.slice(1) } });
    assert.match(short[0] ?? '', /^HTTP_TOKEN must have at least 16 characters with HTTP_HOST="0.0.0.0"/);
    const agents = { HTTP_HOST: '0.0.0.0', HTTP_TOKEN, MCP_TOKEN: 'abcdefgh-654321' };
    assert.match(problemsOf({ env: agents })[0] ?? '', /^MCP_TOKEN must have at least 16 characters/);
    assert.deepEqual(problemsOf({ env: { ...agents, MCP_TOKEN: 'abcdefgh-7654321' } }), []);
    assert.match(problemsOf({ env: { HTTP_TOKEN: 'abc' } })[0] ?? '', /HTTP_TOKEN.* at least 4 characters/);
    assert.deepEqual(load({ env: { HTTP_NAMES: 'A.example, b', HTTP_TOKEN } }).httpNames, ['a.example', 'b']);
    assert.match(
      problemsOf({ env: { HTTP_NAMES: 'a.example' } })[0] ?? '',
      /^HTTP_TOKEN is required with HTTP_NAMES/,
    );
    const [problem = ''] = problemsOf({ env: { HTTP_HOST: '0.0.0.0' } });
    assert.match(problem, /^HTTP_TOKEN is required with HTTP_HOST="0.0.0.0"/);
  });
});

describe('a token that opens one thing only', () => {
  it('is no other token, and the refusal does not print it', () => {
    const one = 'tok-abcdefgh';
    for (const [name, other] of [
      ['FEED_TOKEN', 'FEEDBACK_API_TOKEN'],
      ['FEED_TOKEN', 'HTTP_TOKEN'],
      ['MCP_TOKEN', 'FEEDBACK_API_TOKEN'],
      ['MCP_TOKEN', 'HTTP_TOKEN'],
      ['MCP_TOKEN', 'FEED_TOKEN'],
    ] as const) {
      const problems = problemsOf({ env: { [name]: one, [other]: one } });
      assert.equal(problems.length, 1, name);
      assert.match(problems[0] ?? '', new RegExp(`^${name} must not be the same as ${other}`));
      assert.ok(!problems[0]?.includes(one));
    }
    const env = {
      FEEDBACK_API_TOKEN: one,
      HTTP_TOKEN: one,
      FEED_TOKEN: 'feed-token',
      MCP_TOKEN: 'mcp-token',
    };
    assert.deepEqual(problemsOf({ env }), []);
  });
});

describe('the queue', () => {
  it('is on Redis or PostgreSQL', () => {
    for (const url of [
      'redis://127.0.0.1:6379',
      'rediss://:p@host/2',
      'postgres://u@h/db',
      'postgresql://h/d',
    ])
      assert.equal(queueUrl(url).reveal(), url);
    for (const url of ['http://h', 'redis', 'redis://', 'mysql://h'])
      assert.throws(() => queueUrl(url), /must be a URL such as redis:/, url);
  });

  it('URL is a secret, and its password is masked separately', () => {
    const settings = load({ env: { QUEUE_URL: 'redis://:pa%24sword@h' } });
    const masked = secretsOf(settings).reduce((text, secret) => secret.mask(text), 'NOAUTH pa$sword');
    assert.equal(masked, 'NOAUTH [secret]');
    const [problem = ''] = problemsOf({ env: { QUEUE_URL: 'http://:hidden@h' } });
    assert.ok(!problem.includes('hidden'), problem);
  });
});

describe('the time zone of this machine', () => {
  it('is UTC where the machine does not know its own', (t) => {
    const { DateTimeFormat } = Intl;
    t.mock.method(Intl, 'DateTimeFormat', () => ({
      resolvedOptions: () => ({ ...new DateTimeFormat().resolvedOptions(), timeZone: 'Etc/Unknown' }),
    }));
    assert.deepEqual([load({}).timeZone, timeZone(':/etc/localtime')], ['UTC', 'UTC']);
  });

  it('is not looked up for the sake of the secrets: every command has those, few need the zone', (t) => {
    const settings = load({});
    const formats = t.mock.method(Intl, 'DateTimeFormat');
    secretsOf(settings);
    assert.equal(formats.mock.callCount(), 0);
    assert.ok(settings.timeZone);
    assert.equal(formats.mock.callCount(), 1);
  });
});

describe('a setting that is a number', () => {
  it('is taken up to its bounds and not beyond', () => {
    const bounds = {
      ...{ SYNC_PAGES_AHEAD: [1, 16], PUSH_CONCURRENCY: [1, 32], PUSH_PER_MINUTE: [1, 1_000_000] },
      HTTP_PORT: [0, 65_535],
    };
    for (const [name, [least = 0, most = 0]] of Object.entries(bounds)) {
      for (const value of [least, most]) assert.deepEqual(problemsOf({ env: { [name]: String(value) } }), []);
      for (const value of [least - 1, most + 1])
        assert.equal(problemsOf({ env: { [name]: String(value) } }).length, 1, `${name}=${value}`);
    }
  });
});

describe('the folders', () => {
  it('are in the data folder unless they are set', () => {
    const { mirrorPath, exportDir } = load({ env: { DATA_DIR: 'elsewhere' } });
    assert.deepEqual([mirrorPath, exportDir], ['elsewhere/mirror.db', 'elsewhere/exports']);
    const env = { DATA_DIR: 'elsewhere', MIRROR_PATH: 'm.db', EXPORT_DIR: 'out' };
    const set = load({ env });
    assert.deepEqual([set.dataDir, set.mirrorPath, set.exportDir], ['elsewhere', 'm.db', 'out']);
  });
});

describe('how long deleted rows are kept', () => {
  it('is a duration, 0, or never', () => {
    assert.deepEqual(['30d', '0', 'never', '12h'].map(retention), [2_592_000_000, 0, 'never', 43_200_000]);
    assert.throws(() => retention('forever'), /must be never, 0, or a duration such as 30d/);
  });
});
