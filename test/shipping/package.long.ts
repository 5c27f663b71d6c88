import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commitOf } from '../../src/base/program.ts';
import { CHECKOUT } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { freePort } from '../support/launch.ts';
import { ordinaryUser } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { installGlobally, npm, type Packed, pack } from './package.ts';

const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as { version: string };
const owner = ordinaryUser();

describe('the package', () => {
  let packed: Packed;
  let program: string;
  let folder: string;
  before(() => {
    packed = pack();
    program = installGlobally(packed, packed.tarball);
    execFileSync('chmod', ['-R', 'a-w', join(packed.folder, 'prefix')]);
    folder = join(packed.folder, 'Größe und Straße');
    mkdirSync(folder);
    if (owner) chownSync(folder, owner.uid, owner.gid);
  });
  after(() => packed.remove());

  /** As another user than the one who installed it, where that can be had. */
  const options = () => ({ cwd: folder, env: { PATH: process.env.PATH, HOME: folder }, ...owner });
  const run = (...args: string[]): string => {
    const done = spawnSync(process.execPath, [program, ...args], { ...options(), encoding: 'utf8' });
    assert.equal(done.status, 0, `${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  };

  it('has what runs, its documentation and the files to deploy it, in at most 1.5 MB', () => {
    assert.ok(packed.bytes <= 1_500_000, String(packed.bytes));
    const compiled =
      /^dist\/(src|jobs|config|node_modules\/bullmq-sqlite)\/.*\.(js|js\.map|sql|css|html|svg)$|^dist\/src\/library\/\w+\.d\.ts$/;
    const others = packed.files.filter((path) => !compiled.test(path));
    const wanted = [
      'CHANGELOG.md',
      'LICENSE',
      ...['LICENSE', 'README.md', 'package.json'].map((name) => `dist/node_modules/bullmq-sqlite/${name}`),
      'README.md',
      'SECURITY.md',
      'dist/package.json',
      'package.json',
      'src/feedback-mirror.js',
      'src/launch.js',
      ...globSync(['docs/*.md', 'docs/decisions/*.md', 'schemas/*.json'], { cwd: CHECKOUT }),
      ...globSync('deploy/*.{json,service,yaml,yml}', { cwd: CHECKOUT }),
      ...globSync('examples/**/*.*', { cwd: CHECKOUT }),
    ];
    assert.deepEqual(new Set(others), new Set(wanted));
  });

  it('installed globally runs every command as another user, from a read-only prefix, in a folder of any name', () => {
    assert.equal(run('--version'), `${version} (commit ${commitOf(CHECKOUT)})\n`);
    writeFileSync(join(folder, 'ideas.csv'), 'Title,Text,Board\nFaster export,Please,bugs\n');
    assert.match(run('sync'), /posts +sweep/);
    assert.match(run('status'), /mirror of the built-in sandbox/);
    assert.match(run('search', 'export'), /#\d+/);
    assert.match(run('report', 'top-posts', '--limit', '1'), /POST/);
    assert.match(run('query', 'SELECT count(*) AS n FROM posts'), /^ +n\n500\n/);
    assert.match(run('query', '--schema'), /live_posts/);
    for (const format of ['parquet', 'csv', 'ndjson'])
      run('export', 'all', '--format', format, '--out', format);
    assert.match(
      run('create', '--board', 'bugs', '--title', 'A wish', '--content', 'Please', '--wait'),
      /^post \d+ /,
    );
    run('import', 'ideas.csv', '--dry-run');
    run('import', 'ideas.csv');
    assert.match(run('outbox'), /Faster export/);
    assert.match(run('backup', 'copy.db'), /checked: /);
    assert.match(run('config'), /DATA_DIR/);
    assert.match(run('doctor'), new RegExp(`^ok +version +${version}`));
    assert.match(run('completion', 'bash'), /complete -o default/);
    assert.ok(
      existsSync(join(folder, '.cache/feedback-mirror')),
      'compiled code is kept in the cache of the user',
    );
    assert.equal(statSync(join(folder, '.cache/feedback-mirror')).mode & 0o077, 0);
  });

  it('serves: pages with all they load, SQL, health with its version; what is left out says what to install', async (t) => {
    const port = await freePort();
    const service = spawn(process.execPath, [program, 'start', '--http-port', String(port)], {
      ...options(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    t.after(() => service.kill('SIGKILL'));
    const url = `http://127.0.0.1:${port}`;
    await until('it is ready', () => answers(`${url}/readyz`));
    assert.deepEqual(await (await fetch(`${url}/healthz`)).json(), {
      status: 'ok',
      version,
      commit: commitOf(CHECKOUT),
    });
    await assertLoads(url, '/');
    const body = JSON.stringify({ sql: 'SELECT 7 AS n' });
    const asked = await fetch(`${url}/data/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    assert.equal(asked.status, 200);
    await stopped(service);
  });

  it('runs for a user that has no home and that nobody knows', { skip: process.getuid?.() !== 0 }, () => {
    const { status, stderr } = spawnSync(process.execPath, [program, '--version'], {
      cwd: packed.folder,
      env: { PATH: process.env.PATH },
      uid: 54_321,
      gid: 54_321,
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
  });

  it('says which package the queue on PostgreSQL needs', () => {
    const env = { ...options().env, QUEUE_URL: 'postgres://127.0.0.1:1/queue' };
    const { status, stderr } = spawnSync(process.execPath, [program, 'start', '--http-port', '0'], {
      ...options(),
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /needs the package pg.*\n.*npm install pg@\d/);
  });

  it('says which packages the tools for agents need', () => {
    const { status, stderr } = spawnSync(process.execPath, [program, 'mcp'], {
      ...options(),
      encoding: 'utf8',
    });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /npm install @modelcontextprotocol\/server@\S+ zod@\d/);
  });

  it('works through npx and as a dependency of another package', () => {
    const told = npm(
      ['exec', '--yes', `--package=${packed.tarball}`, '--', 'feedback-mirror', '--version'],
      packed.folder,
    );
    assert.match(told, new RegExp(`^${version} `));
    const other = join(packed.folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'package.json'), '{"name":"other","version":"1.0.0"}');
    npm(['install', packed.tarball], other);
    const bin = join(other, 'node_modules/.bin/feedback-mirror');
    const { stdout } = spawnSync(process.execPath, [bin, 'sync', 'posts'], { cwd: other, encoding: 'utf8' });
    assert.match(stdout, /posts +sweep/);
    assertLibrary(other);
  });
});

/** What programs import, with the types that a compiler finds. */
const IMPORTS = `
import { connect, type Post } from 'feedback-mirror/client';
import { openChanges, type Change } from 'feedback-mirror/changes';
import { openMirror } from 'feedback-mirror/mirror';
import openapi from 'feedback-mirror/openapi.json' with { type: 'json' };

const mirror = openMirror({ file: 'data/sandbox/mirror.db' });
let posts = 0;
for await (const post of mirror.posts()) posts += (post satisfies Post).id > 0 ? 1 : 0;
await mirror.close();
const feed = openChanges({ file: 'data/sandbox/mirror.db' });
const changes: Change[] = feed.after(feed.position(), { limit: 10 }).changes;
feed.close();
await connect({ baseUrl: 'http://127.0.0.1:9', token: 'none' }).close();
process.stdout.write(JSON.stringify([posts, changes.length, openapi.openapi]));
`;

/** Nothing but the exports can be imported, and their types need no other package than those of Node. */
function assertLibrary(folder: string): void {
  writeFileSync(join(folder, 'use.mts'), IMPORTS);
  const flags = [
    '--ignoreConfig',
    '--strict',
    '--target',
    'es2024',
    '--module',
    'nodenext',
    '--types',
    'node',
  ];
  const types = [
    '--typeRoots',
    join(CHECKOUT, 'node_modules/@types'),
    '--resolveJsonModule',
    '--outDir',
    '.',
  ];
  const tsc = join(CHECKOUT, 'node_modules/.bin/tsc');
  const checked = spawnSync(tsc, [...flags, ...types, 'use.mts'], { cwd: folder, encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stdout);
  const used = spawnSync(process.execPath, ['use.mjs'], { cwd: folder, encoding: 'utf8' });
  assert.equal(used.stdout, '[500,0,"3.1.0"]', used.stderr);
  const inside = "import 'feedback-mirror/dist/src/main.js'";
  const refused = spawnSync(process.execPath, ['--input-type=module', '--eval', inside], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.match(refused.stderr, /ERR_PACKAGE_PATH_NOT_EXPORTED/);
}

describe('the checkout', () => {
  it('runs on production dependencies alone', (t) => {
    const folder = folderFor(t, 'production');
    for (const name of ['package.json', 'package-lock.json', '.npmrc', 'src', 'jobs', 'config', 'packages'])
      cpSync(join(CHECKOUT, name), join(folder, name), { recursive: true });
    npm(['ci', '--omit=dev'], folder);
    assert.ok(!existsSync(join(folder, 'node_modules/typescript')));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['src/feedback-mirror.js', 'sync', 'posts'],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /posts +sweep/);
  });
});

async function answers(url: string): Promise<boolean> {
  return await fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

const BARE = /^(?:import|export)\b[^;'"]*\bfrom ['"][^'"./]/m;

/** The document, and all that it and its modules name. */
async function assertLoads(url: string, path: string, seen = new Set<string>()): Promise<void> {
  if (seen.has(path)) return;
  seen.add(path);
  const answer = await fetch(new URL(path, url));
  assert.equal(answer.status, 200, path);
  const text = await answer.text();
  const isScript = path.endsWith('.js');
  if (path !== '/' && !isScript) return;
  if (isScript) assert.doesNotMatch(text, BARE, `${path} names a package, which no browser finds`);
  const named = isScript
    ? /(?<=(?:from |import\()['"])(?:\.|\/assets)[^'"]+(?=['"])/g
    : /(?<=(?:src|href)=")\/assets\/[^"]+/g;
  for (const [next] of text.matchAll(named))
    await assertLoads(url, new URL(next, new URL(path, url)).pathname, seen);
  if (path === '/') assert.ok(seen.size > 20, [...seen].join(' '));
}

async function stopped(service: ChildProcess): Promise<void> {
  service.kill('SIGTERM');
  const [code] = await once(service, 'exit');
  assert.equal(code, 0);
}
