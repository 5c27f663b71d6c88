import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startSandbox } from '../laboratory/server.ts';
import { type CliResult, runCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';

interface Place {
  folder: string;
  run(args: string[], env?: Record<string, string>): Promise<CliResult>;
}

/** A folder with `sources.yaml` for a sandbox each: of acme with 30 posts, of beta with 10. */
async function place(t: TestContext, { betaToken = 'token-of-beta' } = {}): Promise<Place> {
  const urls: string[] = [];
  for (const [name, posts] of [['acme', 30] as const, ['beta', 10] as const]) {
    const tokens = [{ token: `token-of-${name}`, email: 'owner@example.com', name: 'Owner' }];
    const sandbox = await startSandbox({ posts, tokens });
    t.after(() => sandbox.close());
    urls.push(sandbox.url);
  }
  const folder = folderFor(t, 'sources');
  const [acme, beta] = urls;
  writeFileSync(
    join(folder, 'sources.yaml'),
    `sources:
  acme: { base_url: '${acme}', token: token-of-acme }
  beta: { base_url: '${beta}', token: ${betaToken} }
`,
  );
  return { folder, run: (args, env = {}) => runCli(args, { cwd: folder, env }) };
}

describe('commands with several sources', () => {
  it('ask which source is meant, and keep the data of each in a folder of its own', async (t) => {
    const { folder, run } = await place(t);
    const unsaid = await run(['sync']);
    assert.equal(unsaid.code, 2);
    assert.match(unsaid.stderr, /for one source, and there are several: acme, beta\n.*--source NAME/);
    assert.equal((await run(['sync', '--source', 'acme'])).code, 0);
    assert.ok(existsSync(join(folder, 'data/acme/mirror.db')));
    assert.ok(!existsSync(join(folder, 'data/beta')));
    const count = await run(['query', 'SELECT count(*) AS n FROM posts', '--json'], { SOURCE: 'acme' });
    assert.match(count.stdout, /30/);
    const unknown = await run(['sync', '--source', 'gamma']);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /no source "gamma".*\nThere are acme, beta\./);
  });

  it('show all of them, and end with the highest code of all', async (t) => {
    const { run } = await place(t, { betaToken: 'not-the-token' });
    assert.equal((await run(['sync', '--source', 'acme'])).code, 0);
    assert.equal((await run(['sync', '--source', 'beta'])).code, 3);
    const tested = await run(['sources', 'test', '--json']);
    assert.equal(tested.code, 3);
    const { sources } = JSON.parse(tested.stdout) as { sources: { name: string; ok: boolean }[] };
    assert.deepEqual(
      sources.map(({ name, ok }) => [name, ok]),
      [
        ['acme', true],
        ['beta', false],
      ],
    );
    assert.equal((await run(['sources', 'test', 'acme'])).code, 0);
    const list = JSON.parse((await run(['sources', '--json'])).stdout) as {
      sources: { name: string; posts: number; lagSeconds: number | null; trouble: string[] }[];
    };
    assert.deepEqual(
      list.sources.map(({ name, posts, lagSeconds, trouble }) => [
        name,
        posts,
        lagSeconds === null,
        ...trouble,
      ]),
      [
        ['acme', 30, false],
        ['beta', 0, true, 'the feedback service refused the token'],
      ],
    );
    const doctor = await run(['doctor', '--json']);
    assert.equal(doctor.code, 3);
    const found = JSON.parse(doctor.stdout) as { sources: Record<string, { ok: boolean }> };
    assert.deepEqual([found.sources.acme?.ok, found.sources.beta?.ok], [true, false]);
    const status = await run(['status']);
    assert.match(status.stdout, /# acme\nmirror of [\s\S]*\n# beta\n/);
  });

  it('refuse a source that nobody named where there is no file', async () => {
    const { code, stderr } = await runCli(['status', '--source', 'acme']);
    assert.equal(code, 2);
    assert.match(stderr, /there is no such file here/);
  });

  it('make the mirror that was the only one that of a source', async (t) => {
    const { folder, run } = await place(t);
    const file = join(folder, 'sources.yaml');
    const [, url = ''] = /acme: \{ base_url: '([^']+)'/.exec(readFileSync(file, 'utf8')) ?? [];
    const env = { FEEDBACK_BASE_URL: url, FEEDBACK_API_TOKEN: 'token-of-acme', SOURCES_FILE: '' };
    const elsewhere = (args: string[]) => runCli(args, { cwd: join(folder, 'old'), env });
    mkdirSync(join(folder, 'old'));
    assert.equal((await elsewhere(['sync'])).code, 0);
    assert.equal((await elsewhere(['create', '--board', 'Bugs', '--title', 'Kept in the outbox'])).code, 0);
    const other = await run(['sources', 'adopt', 'beta', '--from', 'old/data']);
    assert.equal(other.code, 2);
    assert.match(other.stderr, /belongs to/);
    const adopted = await run(['sources', 'adopt', 'acme', '--from', 'old/data']);
    assert.equal(adopted.code, 0, adopted.stderr);
    assert.ok(!existsSync(join(folder, 'old/data/mirror.db')));
    const status = JSON.parse((await run(['status', '--source', 'acme', '--json'])).stdout) as {
      olderCopy: unknown;
      outbox: { states: Record<string, number> };
    };
    assert.equal(status.olderCopy, null);
    assert.equal(status.outbox.states.ready, 1);
    const again = await run(['sources', 'adopt', 'acme', '--from', 'old/data']);
    assert.equal(again.code, 0, again.stderr);
    // The lock of the adoption itself stays where it is.
    assert.match(again.stdout, /^0 files and folders/);
  });
});
