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

const event = 'test';

/** Every way a token can slip into a log call. */
const LEAKS: Record<string, (log: Logger) => void> = {
  'in the sentence': (log) => log.info({ event }, `sent ${TOKEN}`),
  'in the event': (log) => log.warn({ event: TOKEN, again: TOKEN }, 'sent'),
  'in a nested object': (log) =>
    log.warn({ event, a: { b: [{ authorization: `Bearer ${TOKEN}` }] } }, 'sent'),
  'as a key': (log) => log.warn({ event, [TOKEN]: 1 }, 'sent'),
  'in the result of toJSON': (log) => log.warn({ event, a: { toJSON: () => TOKEN } }, 'sent'),
  'in an error': (log) => log.error({ event, err: new Error(`refused ${TOKEN}`) }, 'failed'),
  'in the properties of an error': (log) => {
    const properties = { headers: { authorization: TOKEN }, url: `/?t=${encodeURIComponent(TOKEN)}` };
    log.error({ event, err: Object.assign(new Error('refused'), properties) }, 'failed');
  },
  'in the cause of an error': (log) => {
    const err = new Error('failed', { cause: new Error(TOKEN, { cause: new Error(TOKEN) }) });
    log.error({ event, err }, 'failed');
  },
  'in base64': (log) => log.warn({ event, auth: Buffer.from(`user:${TOKEN}`).toString('base64') }, 'sent'),
  'as the secret itself': (log) => log.warn({ event, secret, deep: { secret } }, 'sent'),
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

    it('has no line below its level', () => {
      const { log, text } = logTo(format, 'warn');
      log.info({ event }, 'quiet');
      log.warn({ event }, 'loud');
      assert.doesNotMatch(text(), /quiet/);
      assert.match(text(), /loud/);
    });

    it('says nothing when it is silent', () => {
      const { log, text } = logTo(format, 'silent');
      log.error({ event }, 'nothing');
      assert.equal(text(), '');
    });
  });
}

describe('a log in JSON', () => {
  it('is one object a line with time, level and fields, whatever is logged', () => {
    const { log, text } = logTo('json');
    for (const leak of Object.values(LEAKS)) leak(log);
    log.info({ event, post: 7 }, 'two\nlines');
    const lines = text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const last = lines.at(-1);
    assert.equal(lines.length, Object.keys(LEAKS).length + 1);
    assert.deepEqual([last?.level, last?.post, last?.msg], [30, 7, 'two\nlines']);
    assert.match(String(last?.time), /^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('masks a token that was replaced while we run', () => {
    let current = [new Secret('first-canary')];
    const { log, text } = logTo('json', 'info', () => current);
    current = [...current, new Secret('second-canary')];
    log.info({ event }, 'first-canary second-canary');
    assert.doesNotMatch(text(), /canary/);
  });
});

describe('a log for people', () => {
  it('says what goes well in one sentence, and shows ids and numbers beside trouble', () => {
    const { log, text } = logTo('pretty');
    log.info({ event, runId: 7 }, 'posts: 18 new, 85 changed, 0.4 s');
    log.warn({ event, waitMs: 1200 }, 'the upstream asked us to slow down');
    const [first, second, ...rest] = text().split('\n');
    assert.match(first ?? '', /^\[\d\d:\d\d:\d\d\] INFO: posts: 18 new, 85 changed, 0\.4 s$/);
    assert.match(second ?? '', /WARN: the upstream asked us to slow down \{"waitMs":1200\}$/);
    assert.deepEqual(rest, ['']);
  });
});

describe('a log without a destination', () => {
  it('goes to stderr and leaves stdout to the data, without colours in a file', async () => {
    const url = new URL('../../src/base/log.ts', import.meta.url);
    for (const format of ['json', 'pretty']) {
      const script = `import { createLogger } from '${url}';
        createLogger({ level: 'info', format: '${format}', secrets: () => [] }).info({ event: 'test' }, 'hello');`;
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
