import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createLogger, type Logger } from '../../src/base/log.ts';
import { Secret } from '../../src/base/secret.ts';

const TOKEN = 'canary+"token/7';
const secret = new Secret(TOKEN);

interface Written {
  log: Logger;
  text(): string;
}

function logTo(format: 'json' | 'pretty', level = 'trace', secrets = (): Secret[] => [secret]): Written {
  let written = '';
  const destination = {
    write(line: string): void {
      written += line;
    },
  };
  return { log: createLogger({ level, format, secrets, destination }), text: () => written };
}

/** Every way a token can slip into a log call. */
const LEAKS: Record<string, (log: Logger) => void> = {
  'in the message': (log) => log.info(`sent ${TOKEN}`),
  'in an interpolated value': (log) => log.info('sent %s and %o', TOKEN, { TOKEN }),
  'in a nested object': (log) => log.info({ a: { b: [{ authorization: `Bearer ${TOKEN}` }] } }, 'request'),
  'as a key': (log) => log.info({ [TOKEN]: 1 }),
  'in the result of toJSON': (log) => log.info({ a: { toJSON: () => TOKEN } }),
  'in an error': (log) => log.error(new Error(`refused ${TOKEN}`)),
  'in the properties of an error': (log) =>
    log.error(
      Object.assign(new Error('refused'), {
        headers: { authorization: TOKEN },
        url: `/?t=${encodeURIComponent(TOKEN)}`,
      }),
    ),
  'in the cause of an error': (log) =>
    log.error(
      { err: new Error('failed', { cause: new Error(TOKEN, { cause: new Error(TOKEN) }) }) },
      'failed',
    ),
  'in the bindings of a child': (log) => log.child({ token: TOKEN }).child({ again: TOKEN }).warn('hello'),
  'in a child with redaction of its own': (log) =>
    log.child({ token: TOKEN }, { redact: ['other'] }).warn({ TOKEN }),
  'in base64': (log) => log.info({ auth: Buffer.from(`user:${TOKEN}`).toString('base64') }),
  'as the secret itself': (log) => log.info({ secret, deep: { secret } }, 'sent %s', secret),
};

for (const format of ['json', 'pretty'] as const) {
  describe(`the ${format} log`, () => {
    for (const [where, leak] of Object.entries(LEAKS)) {
      it(`never shows a token ${where}`, () => {
        const { log, text } = logTo(format);
        leak(log);
        assert.match(text(), /\[secret\]/);
        assert.doesNotMatch(text(), /canary|token\/7|Y2FuYXJ5|%2B%22/);
      });
    }

    it('respects the level', () => {
      const { log, text } = logTo(format, 'warn');
      log.info('quiet');
      log.warn('loud');
      assert.doesNotMatch(text(), /quiet/);
      assert.match(text(), /loud/);
    });

    it('says nothing when it is silent', () => {
      const { log, text } = logTo(format, 'silent');
      log.error('nothing');
      assert.equal(text(), '');
    });
  });
}

describe('a log in JSON', () => {
  it('is one object a line with time, level and fields, whatever is logged', () => {
    const { log, text } = logTo('json');
    for (const leak of Object.values(LEAKS)) leak(log);
    log.info({ post: 7 }, 'two\nlines');
    const lines = text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const last = lines.at(-1);
    assert.ok(lines.length > Object.keys(LEAKS).length);
    assert.deepEqual([last?.level, last?.post, last?.msg], [30, 7, 'two\nlines']);
    assert.match(String(last?.time), /^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('masks a token that was replaced while we run', () => {
    let current = [new Secret('first-canary')];
    const { log, text } = logTo('json', 'info', () => current);
    current = [...current, new Secret('second-canary')];
    log.info('first-canary second-canary');
    assert.doesNotMatch(text(), /canary/);
  });
});

describe('a log without a destination', () => {
  it('goes to stderr and leaves stdout to the data, without colours in a file', async () => {
    const url = new URL('../../src/base/log.ts', import.meta.url);
    for (const format of ['json', 'pretty']) {
      const script = `import { createLogger } from '${url}';
        createLogger({ level: 'info', format: '${format}', secrets: () => [] }).info('hello');`;
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [
        '--input-type=module',
        '-e',
        script,
      ]);
      assert.equal(stdout, '');
      assert.match(stderr, /hello/);
      assert.equal(stderr.includes('\u001b'), false);
    }
  });
});
