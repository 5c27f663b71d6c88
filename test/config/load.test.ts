import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { givenText } from '../../config/load.ts';
import { unknownNames } from '../../config/spelling.ts';
import { folder, load, problemsOf } from './inputs.ts';

describe('where a setting comes from', () => {
  it('is a flag before the environment before .env before the default', () => {
    const cwd = folder({ '.env': 'LOG_LEVEL=error\n' });
    const flags = { LOG_LEVEL: 'trace' };
    const env = { LOG_LEVEL: 'debug' };
    const found = [{ flags, env, cwd }, { env, cwd }, { cwd }, {}].map((part) => {
      const { logLevel, origins } = load(part);
      return [logLevel, origins.logLevel];
    });
    assert.deepEqual(found, [
      ['trace', 'flag'],
      ['debug', 'environment'],
      ['error', '.env'],
      ['info', 'default'],
    ]);
  });

  it('skips empty values, which count as not set', () => {
    const cwd = folder({ '.env': 'LOG_LEVEL=error\nDATA_DIR=\n' });
    const settings = load({ flags: { LOG_LEVEL: '' }, env: { LOG_LEVEL: '', DATA_DIR: '' }, cwd });
    assert.equal(settings.logLevel, 'error');
    assert.equal(settings.dataDir, join('data', 'sandbox'));
  });

  it('may be a .env with quotes, comments, CRLF and a byte order mark', () => {
    const cwd = folder({ '.env': '\ufeffLOG_LEVEL="warn" # loud\r\n# DATA_DIR=no\r\nDATA_DIR=yes\r\n' });
    const { logLevel, dataDir } = load({ cwd });
    assert.deepEqual([logLevel, dataDir], ['warn', 'yes']);
  });

  it('is the working folder it was told, whose .env must be readable if it is there', () => {
    const cwd = folder();
    mkdirSync(join(cwd, '.env'));
    const problems = problemsOf({ cwd, env: { LOG_LEVEL: 'loud' } });
    assert.equal(problems.length, 2);
    assert.match(problems[0] ?? '', /\.env cannot be read \(EISDIR\)/);
    assert.throws(() => givenText('sourcesFile', { cwd, env: {}, flags: {}, isTerminal: false }), {
      code: 'usage',
    });
  });
});

describe('a secret', () => {
  const files = { 'token.txt': '  from-file\n', 'empty.txt': '\n' };

  it('comes from the environment, its file, .env, or the file that .env names', () => {
    const cwd = folder({ ...files, '.env': 'FEEDBACK_API_TOKEN=from-dotenv\n' });
    const byFile = folder({ ...files, '.env': 'FEEDBACK_API_TOKEN_FILE=token.txt\n' });
    const env = { FEEDBACK_API_TOKEN_FILE: join(cwd, 'token.txt') };
    const found = [
      { cwd, env: { ...env, FEEDBACK_API_TOKEN: 'from-env' } },
      { cwd, env },
      { cwd },
      { cwd: byFile },
    ].map((part) => {
      const { token, origins } = load(part);
      return [token?.reveal(), origins.token];
    });
    assert.deepEqual(found, [
      ['from-env', 'environment'],
      ['from-file', 'file'],
      ['from-dotenv', '.env'],
      ['from-file', 'file'],
    ]);
  });

  it('is never taken from a flag', () => {
    assert.equal(load({ flags: { FEEDBACK_API_TOKEN: 'from-flag' } }).token, null);
  });

  it('is refused when its file is missing or empty', () => {
    const cwd = folder(files);
    assert.match(
      problemsOf({ cwd, env: { FEEDBACK_API_TOKEN_FILE: 'gone.txt' } }).join(),
      /^FEEDBACK_API_TOKEN_FILE="gone.txt" cannot be read \(ENOENT\)/,
    );
    assert.match(
      problemsOf({ cwd, env: { FEEDBACK_API_TOKEN_FILE: 'empty.txt' } }).join(),
      /^FEEDBACK_API_TOKEN_FILE="empty.txt" is an empty file/,
    );
  });

  it('is not read from its file if a place of higher rank has it', () => {
    const cwd = folder({ '.env': 'FEEDBACK_API_TOKEN_FILE=/nowhere/at/all\n' });
    assert.equal(load({ cwd, env: { FEEDBACK_API_TOKEN: 'from-env' } }).token?.reveal(), 'from-env');
  });

  it('is refused without being shown when it cannot be sent', () => {
    for (const token of ['canary with space', 'canary\nline', 'canäry', ' \t']) {
      const [problem = '', ...more] = problemsOf({ env: { FEEDBACK_API_TOKEN: token } });
      assert.equal(
        problem,
        'FEEDBACK_API_TOKEN must be printable ASCII without spaces or line breaks inside',
      );
      assert.deepEqual(more, []);
    }
  });
});

describe('the settings', () => {
  it('cannot be changed once they are read', () => {
    const settings = load();
    assert.throws(() => Object.assign(settings, { logLevel: 'trace' }), TypeError);
    assert.throws(() => Object.assign(settings.origins, { logLevel: 'flag' }), TypeError);
  });

  it('keep the data of the sandbox apart from those of a real service', () => {
    assert.equal(load().dataDir, join('data', 'sandbox'));
    assert.equal(load({ env: { FEEDBACK_BASE_URL: 'https://feedback.example.com' } }).dataDir, 'data');
    assert.equal(load({ env: { DATA_DIR: '/srv/feedback' } }).dataDir, '/srv/feedback');
  });

  it('make log lines pretty on a terminal only, unless told', () => {
    assert.equal(load({ isTerminal: true }).logFormat, 'pretty');
    assert.equal(load({ isTerminal: false }).logFormat, 'json');
    assert.equal(load({ isTerminal: true, env: { LOG_FORMAT: 'json' } }).logFormat, 'json');
  });
});

describe('wrong settings', () => {
  it('are all listed at once, each with its name, its value and what is allowed', () => {
    const cwd = folder({ '.env': 'FEEDBACK_API_TOKN=canary\nLOG_FORMAT=xml\n' });
    const env = { FEEDBACK_AUTH: 'cookie', FEEDBACK_PAGE_PARAM: 'a&b', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const problems = problemsOf({ cwd, env, flags: { LOG_LEVEL: 'loud' } });
    const expected = [
      /^FEEDBACK_AUTH="cookie" must be one of header, query$/,
      /^FEEDBACK_PAGE_PARAM="a&b" must be a parameter name/,
      /^LOG_LEVEL="loud" must be one of trace, debug, info, warn, error, silent$/,
      /^LOG_FORMAT="xml" must be one of pretty, json$/,
      /^FEEDBACK_API_TOKN is not a setting: did you mean FEEDBACK_API_TOKEN\?/,
      /^NODE_TLS_REJECT_UNAUTHORIZED="0" would send the token to anyone/,
    ];
    assert.equal(problems.length, expected.length, problems.join('\n'));
    for (const pattern of expected)
      assert.ok(
        problems.some((p) => pattern.test(p)),
        String(pattern),
      );
    assert.doesNotMatch(problems.join('\n'), /canary/);
  });

  it('include a misspelt name, and a _FILE for what is no secret', () => {
    assert.equal(problemsOf({ env: { FEEDBACK_BASEURL: 'https://x' } }).length, 1);
    assert.equal(problemsOf({ env: { FEEDBACK_AUTH_FILE: '/x' } }).length, 1);
    assert.deepEqual(
      problemsOf({
        env: { FEEDBACK_TEST_ANYTHING: '1', FEEDBACK_MIRROR_SERVICE_HOST: '10.0.0.1', SOMETHING_ELSE: '1' },
      }),
      [],
    );
  });

  it('include a name that is nearly that of a setting, and leave those of other programs alone', () => {
    assert.deepEqual(problemsOf({ env: { PUSH_PER_MINUTES: '5' } }), [
      'PUSH_PER_MINUTES is not a setting: did you mean PUSH_PER_MINUTE?',
    ]);
    assert.match(problemsOf({ env: { SYNC_HEAD_EVRY: '5m' } }).join(), /did you mean SYNC_HEAD_EVERY\?/);
    const wrong = {
      PUSH_PERMINUTE: '5',
      Push_Per_Minute: '5',
      FEED_TOKN: 'abcd',
      MCP_TOKENS: 'x',
      DELIVERED_STATUS: 'Done',
    };
    for (const [name, value] of Object.entries(wrong))
      assert.match(problemsOf({ env: { [name]: value } }).join(), /did you mean [A-Z_]+\?$/, name);
    const others = {
      HTTPS_PORT: '1',
      OTEL_SDK_DISABLED: 'true',
      HTTP_PROXY: 'http://x',
      LOG_DIR: '/x',
      DATA_SOURCE: 'x',
      PUSH_GATEWAY: 'x',
      PORT: '1',
    };
    assert.deepEqual(problemsOf({ env: others }), []);
  });

  it('include the letters of a setting in .env; in the environment they may be for another program, and are told of', () => {
    const names = { DATADIR: '/x', LOGLEVEL: 'debug', tz: 'UTC' };
    const lines = Object.entries(names).map(([name, value]) => `${name}=${value}\n`);
    assert.deepEqual(
      problemsOf({ cwd: folder({ '.env': lines.join('') }) }),
      Object.entries({ DATADIR: 'DATA_DIR', LOGLEVEL: 'LOG_LEVEL', tz: 'TZ' }).map(
        ([name, near]) => `${name} is not a setting: did you mean ${near}?`,
      ),
    );
    assert.deepEqual(problemsOf({ env: names }), []);
    const env = { ...names, LOG_LEVEL: 'info', HTTP_PROXY: 'http://x', OTEL_SERVICE_NAME: 'x', HOME: '/' };
    const told = unknownNames(env, { WEBHOOK_RETRIES: '3' });
    assert.deepEqual(
      told.map(({ name, near }) => [name, near]),
      [
        ['WEBHOOK_RETRIES', null],
        ['DATADIR', 'DATA_DIR'],
        ['LOGLEVEL', 'LOG_LEVEL'],
        ['tz', 'TZ'],
      ],
    );
  });

  it('include a setting of .env with hyphens or dots between its words', () => {
    assert.deepEqual(problemsOf({ cwd: folder({ '.env': 'HTTP-PORT=3\npush.per.minut=5\n' }) }), [
      'HTTP-PORT is not a setting: did you mean HTTP_PORT?',
      'push.per.minut is not a setting: did you mean PUSH_PER_MINUTE?',
    ]);
  });

  it('include the query form of the token without the name of its parameter', () => {
    assert.match(problemsOf({ env: { FEEDBACK_AUTH: 'query' } }).join(), /^FEEDBACK_AUTH_PARAM is required/);
    assert.deepEqual(problemsOf({ env: { FEEDBACK_AUTH: 'query', FEEDBACK_AUTH_PARAM: 'key' } }), []);
  });

  it('do not include certificate checks that stay on', () => {
    assert.deepEqual(problemsOf({ env: { NODE_TLS_REJECT_UNAUTHORIZED: '1' } }), []);
  });
});
