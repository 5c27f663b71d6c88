import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Command } from 'commander';
import { codeOf, messageOf } from '../../src/base/errors.ts';
import { register } from '../../src/cli/sandbox.ts';
import { World } from '../../src/sandbox/world.ts';
import { folderFor, temporaryFolder } from '../support/folder.ts';

/** A small program around the command alone, so that these tests stand on nothing but it. */
const PROGRAM = `
  import { Command } from 'commander';
  import { register } from ${JSON.stringify(new URL('../../src/cli/sandbox.ts', import.meta.url).href)};
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort());
  const program = new Command('feedback-mirror').option('--json');
  register(program, stop.signal);
  await program.parseAsync(process.argv.slice(1), { from: 'user' });
`;

function start(t: TestContext, ...args: string[]) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, '--', 'sandbox', ...args], {
    cwd: new URL('../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<string> => (await lines.next()).value ?? '';
  return { child, lines, line, stderr: text(child.stderr) };
}

async function titles(url: string, token: string): Promise<string[]> {
  const response = await fetch(`${url}/api/v1/posts/`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(response.status, 200);
  const page = (await response.json()) as { results: { title: string }[] };
  return page.results.map((post) => post.title);
}

test('the address is the first line of stdout and all there is; it answers, and stops cleanly', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { child, lines, line, stderr } = start(t, '--posts', '7');
    const url = await line();
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal((await titles(url, 'sandbox')).length, 7);
    child.kill(signal);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    assert.equal((await lines.next()).done, true);
    assert.match(await stderr, new RegExp(`curl -H 'Authorization: Bearer sandbox' '${url}/api/v1/posts/'`));
  }
});

test('the flags reach the service', async (t) => {
  const folder = folderFor(t, 'sandbox');
  const data = join(folder, 'sandbox.db');
  const tokens = ['--token', 'one', '--token', 'two:ada@example.com'];
  const paging = ['--page-size', '2', '--paging', 'number', '--order', 'oldest', '--auth-param', 'key'];
  const rest = ['--seed', '3', '--posts', '30', '--data', data, '--live'];
  const { child, line } = start(t, '--json', ...tokens, ...paging, ...rest);
  const { url } = JSON.parse(await line()) as { url: string };
  assert.equal((await titles(url, 'one')).length, 2);
  const page = (await (await fetch(`${url}/api/v1/posts/?key=two`)).json()) as {
    next: unknown;
    results: unknown[];
  };
  assert.equal(page.next, 2);
  assert.equal(page.results.length, 2);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);

  assert.equal(statSync(data).mode & 0o777, 0o600);
});

test('what was created is still there after the process was killed', async (t) => {
  const folder = temporaryFolder('sandbox');
  t.after(() => rmSync(folder, { recursive: true }));
  const data = join(folder, 'sandbox.db');
  const { child, line } = start(t, '--data', data, '--posts', '5');
  const created = await fetch(`${await line()}/api/v1/posts/create/?token=sandbox`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ board: 'bugs', title: 'Survivor', content: '' }),
  });
  const { post_id: id } = (await created.json()) as { post_id: number };
  child.kill('SIGKILL');
  await once(child, 'exit');
  const world = new World({ data });
  assert.equal(world.post(id).title, 'Survivor');
  world.close();
});

test('wrong values are usage errors in one clear sentence', async () => {
  const wrong: [string[], RegExp][] = [
    [['--port', 'x'], /--port needs a whole number, not "x"/],
    [['--port', '70000'], /port must be a whole number from 0 to 65535/],
    [['--posts=-1'], /--posts needs a whole number, not "-1"/],
    [['--seed', '1.5'], /--seed needs a whole number/],
    [['--page-size', '0'], /page size must be/],
    [
      ['--paging', 'pages'],
      /paging "pages" is not known; it can be url, path, query, number, offset, cursor/,
    ],
    [['--order', 'size'], /order "size" is not known; it can be newest, oldest, votes, activity, random/],
    [['--token', ':a@example.com'], /--token takes TOKEN or TOKEN:OWNER/],
    [['--token', 'a:nobody'], /needs an e-mail address/],
    [['--auth-param', 'search'], /parameter cannot be blank or one of/],
  ];
  for (const [args, message] of wrong) {
    const program = new Command().exitOverride();
    register(program, AbortSignal.abort());
    await assert.rejects(program.parseAsync(['sandbox', ...args], { from: 'user' }), (error) => {
      assert.match(messageOf(error), message);
      return codeOf(error) === 'usage';
    });
  }
});

test('the help explains every flag and has an example', () => {
  const program = new Command();
  register(program, AbortSignal.abort());
  const command = program.commands[0];
  assert.ok(command);
  let help = '';
  command.configureOutput({ writeOut: (chunk) => (help += chunk) });
  command.outputHelp();
  assert.match(help, /Examples:\n {2}feedback-mirror sandbox --port 9090/);
  const flags = [
    'port',
    'token',
    'auth-param',
    'seed',
    'posts',
    'page-size',
    'paging',
    'order',
    'data',
    'live',
  ];
  assert.deepEqual(
    command.options.map((option) => option.long?.slice(2)),
    flags,
  );
  for (const option of command.options) assert.ok(option.description.length > 10, option.flags);
});
