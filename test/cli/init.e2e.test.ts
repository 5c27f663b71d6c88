import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ENTRY, runCli } from '../support/cli.ts';
import { CANARY, openSite, type Site } from '../support/mirror-site.ts';
import { skipUnless } from '../support/programs.ts';

const dotenv = (site: Site): string => join(site.folder, '.env');

/** What a person sees in a terminal who types these answers, each at the next question. */
async function onTerminal(
  site: Site,
  answers: string[],
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<string> {
  const command = [process.execPath, ENTRY, 'init', ...args].join(' ');
  const child = spawn('script', ['-qec', `${command}; echo exit $?`, '/dev/null'], {
    cwd: site.folder,
    env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
  });
  const left = [...answers];
  let [seen, answered] = ['', 0];
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    if (!seen.slice(answered).endsWith(': ')) return;
    answered = seen.length;
    child.stdin.write(left.shift() ?? '\u0003');
  });
  await once(child, 'close');
  return seen;
}

/** What the terminal has in one piece, the program gets one key at a time. */
const KEY_BY_KEY = `
  const { stdin } = process;
  const push = stdin.push.bind(stdin);
  let last = Promise.resolve();
  stdin.push = (chunk) => {
    for (const key of chunk ?? [null])
      last = last.then(() => new Promise(setImmediate)).then(() => push(key === null ? null : Buffer.of(key)));
    return true;
  };`;

describe('init', () => {
  it('says what is wrong with a token on standard input', async (t) => {
    const { folder: cwd } = await openSite(t);
    const args = ['init', '--feedback-base-url', 'http://127.0.0.1:9'];
    const told = async (input: string) => {
      const { code, stderr } = await runCli(args, { cwd, input });
      return [code, stderr.split('\n', 1)[0]];
    };
    assert.deepEqual(await told(''), [
      2,
      'feedback-mirror: there is no terminal to ask on, and no token was given',
    ]);
    const [code, sentence] = await told('abcd\nefgh\n');
    assert.equal(code, 2);
    assert.match(String(sentence), /^feedback-mirror: the token on standard input must be printable/);
  });

  it('takes the base URL as a flag and the token from standard input, tells what it found, and writes .env', async (t) => {
    const site = await openSite(t);
    writeFileSync(dotenv(site), '# ours\nHTTP_PORT=9\nexport FEEDBACK_BASE_URL=https://before.example\n');
    const args = ['init', '--feedback-base-url', site.sandbox.url];
    const { code, stdout, stderr } = await runCli(args, { cwd: site.folder, input: `${CANARY}\n` });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /took the token:\n {2}posts {5}30\n {2}comments {2}\d+\n/);
    assert.match(stdout, /\n {2}boards {4}\w.*, \w/);
    assert.match(
      stdout,
      /feedback-mirror sync .*data\/mirror\.db\n {2}feedback-mirror start .*127\.0\.0\.1:9\/\n$/,
    );
    assert.equal(
      readFileSync(dotenv(site), 'utf8'),
      `# ours\nHTTP_PORT=9\nFEEDBACK_BASE_URL=${site.sandbox.url}/\nFEEDBACK_API_TOKEN=${CANARY}\n`,
    );
    assert.equal(statSync(dotenv(site)).mode & 0o777, 0o600);
    const synced = await runCli(['sync', 'posts', '--json'], { cwd: site.folder });
    assert.equal(synced.code, 0, synced.stderr);
  });

  it('answers in JSON without the token', async (t) => {
    const site = await openSite(t);
    const { code, stdout } = await site.run(['init', '--json']);
    assert.equal(code, 0);
    const { posts, boards, settings } = JSON.parse(stdout) as Record<string, object>;
    assert.deepEqual(posts, { rows: 30, isWhole: true });
    assert.ok(Array.isArray(boards) && boards.length > 1);
    assert.deepEqual(settings, { FEEDBACK_BASE_URL: `${site.sandbox.url}/` });
  });

  it('writes nothing where the token is refused, and asks for what is missing', async (t) => {
    const site = await openSite(t);
    const wrong = await site.run(['init'], { FEEDBACK_API_TOKEN: 'wrong-token' });
    assert.equal(wrong.code, 3);
    const none = await runCli(['init'], { cwd: site.folder });
    assert.deepEqual([none.code, none.stdout], [2, '']);
    assert.match(none.stderr, /no base URL was given\nSay --feedback-base-url URL/);
    const argument = await runCli(['init', '--feedback-api-token', 'canary'], { cwd: site.folder });
    assert.equal(argument.code, 2);
    assert.equal(existsSync(dotenv(site)), false);
  });

  it(
    'asks in a terminal, refuses what cannot be, shows nothing of the token, and keeps what is there',
    skipUnless('script'),
    async (t) => {
      const site = await openSite(t);
      const seen = await onTerminal(site, ['ftp://x\n', `${site.sandbox.url}\n`, `${CANARY}x\u007f\r`]);
      assert.match(seen, /It must be https, or http on loopback only/);
      assert.match(seen, /took the token:/);
      assert.match(seen, /exit 0/);
      assert.ok(!seen.includes(CANARY) && !seen.includes(CANARY.slice(0, 8)), seen);
      const again = await onTerminal(site, ['\n', '\r']);
      assert.match(again, /API token \(not shown\) \[as it is\]/);
      assert.match(again, /exit 0/);
    },
  );

  it('asks for a refused token again', skipUnless('script'), async (t) => {
    const site = await openSite(t);
    const answers = ['wrong-token\r', `${CANARY}\r`];
    const seen = await onTerminal(site, answers, { args: ['--feedback-base-url', site.sandbox.url] });
    assert.doesNotMatch(seen, /Base URL of the feedback service/);
    assert.match(seen, /The service refused the token\. .*\s+API token \(not shown\): /);
    assert.match(seen, /took the token:[\s\S]*exit 0/);
    assert.ok(site.sandbox.requests.every(({ url }) => !url.includes(CANARY) && !url.includes('wrong')));
  });

  it('says which names of the environment count more than what it wrote', skipUnless('script'), async (t) => {
    const site = await openSite(t);
    const env = { FEEDBACK_API_TOKEN: 'an-older-one' };
    const seen = await onTerminal(site, [`${site.sandbox.url}\n`, `${CANARY}\r`], { env });
    assert.match(seen, /But FEEDBACK_API_TOKEN is set in the environment, with another value/);
    assert.doesNotMatch(seen, /But FEEDBACK_BASE_URL/);
  });

  it('writes what a link leads to', async (t) => {
    const site = await openSite(t);
    const target = join(site.folder, 'secrets/feedback.env');
    mkdirSync(join(site.folder, 'secrets'));
    writeFileSync(target, '');
    symlinkSync('secrets/feedback.env', dotenv(site));
    assert.equal((await site.run(['init'])).code, 0);
    assert.ok(lstatSync(dotenv(site)).isSymbolicLink());
    assert.match(readFileSync(target, 'utf8'), /^FEEDBACK_BASE_URL=/);
  });

  it('never repeats its arguments, because one may be a token', async (t) => {
    const site = await openSite(t);
    const { code, stderr } = await runCli(['init', site.sandbox.url, CANARY], { cwd: site.folder });
    assert.equal(code, 2);
    assert.match(stderr, /Expected 0 arguments but got 2\.\nSee feedback-mirror init --help/);
  });

  it('takes a token that is typed key by key without a word', skipUnless('script'), async (t) => {
    const site = await openSite(t);
    const args = ['--feedback-base-url', site.sandbox.url];
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(KEY_BY_KEY)}` };
    const seen = await onTerminal(site, [`${CANARY}\r`], { args, env });
    assert.match(seen, /took the token:[\s\S]*exit 0/);
    assert.doesNotMatch(seen, /Warning/);
  });

  it('ends at Ctrl-C without writing anything', skipUnless('script'), async (t) => {
    const site = await openSite(t);
    const seen = await onTerminal(site, [`${site.sandbox.url}\n`, 'half\u0003']);
    assert.match(seen, /nothing was written/);
    assert.match(seen, /exit 130/);
    assert.equal(existsSync(dotenv(site)), false);
  });
});
