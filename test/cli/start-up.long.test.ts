import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isReady, startService } from '../service/runs.ts';
import { CHECKOUT, type CliResult, ENTRY, runCli } from '../support/cli.ts';
import { folderFor } from '../support/folder.ts';
import { openSite } from '../support/mirror-site.ts';
import { findProgram, findPrograms, skipUnless } from '../support/programs.ts';
import { until } from '../support/until.ts';

/** Prints the packages that were loaded, one a line, on stderr when the program ends. */
const RECORDER = `
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!.*node_modules)/.exec(url);
      if (name) packages.add(name[1]);
      return next(url, context);
    },
  });
  process.on('exit', () => writeSync(2, [...packages].join('\\n')));`;

const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(RECORDER)}`;

type Run = (args: string[], env: Record<string, string>) => Promise<CliResult>;

async function packagesLoadedBy(
  args: string[],
  run: Run = (its, env) => runCli(its, { env }),
): Promise<string[]> {
  const { code, stderr } = await run(args, { NODE_OPTIONS });
  assert.equal(code, 0, stderr);
  return stderr.split('\n');
}

const oldNode = findPrograms('node').find((path) => {
  const { stdout } = spawnSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' });
  return Number.parseInt(stdout, 10) < 22;
});

describe('starting', () => {
  it('loads nothing heavy to print the help: a package costs as much as the whole rest', async () => {
    const loaded = await packagesLoadedBy(['--help']);
    assert.ok(loaded.includes('commander'), String(loaded));
    const heavy = ['better-sqlite3', 'bullmq', 'fastify', 'ioredis', 'p-retry', 'pino', 'undici'];
    assert.deepEqual(
      loaded.filter((name) => heavy.includes(name)),
      [],
    );
  });

  it('keeps compiled code of an installed program in no folder that is named by a relative path', (t) => {
    const folder = folderFor(t, 'installed');
    for (const name of ['src', 'dist/src', 'home']) mkdirSync(join(folder, name), { recursive: true });
    cpSync(join(CHECKOUT, 'src/launch.js'), join(folder, 'src/launch.js'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(
      join(folder, 'dist/src/main.js'),
      'process.stdout.write(String(process.env.NODE_COMPILE_CACHE));',
    );
    const cacheFor = (env: Record<string, string>): string =>
      spawnSync(process.execPath, [join(folder, 'src/launch.js')], { cwd: folder, env, encoding: 'utf8' })
        .stdout;
    const home = join(folder, 'home');
    assert.equal(cacheFor({ HOME: home }), join(home, '.cache/feedback-mirror'));
    assert.equal(cacheFor({ HOME: home, XDG_CACHE_HOME: 'rel' }), join(home, '.cache/feedback-mirror'));
    assert.equal(cacheFor({ HOME: 'rel', XDG_CACHE_HOME: 'rel' }), 'undefined');
    assert.equal(existsSync(join(folder, 'rel')), false);
  });

  it('loads nothing for a sync that only terminals, the service or the queue need', async (t) => {
    const site = await openSite(t);
    const loaded = await packagesLoadedBy(['sync', 'posts'], site.run);
    assert.ok(loaded.includes('undici'), String(loaded));
    assert.deepEqual(
      loaded.filter((name) => ['fastify', 'bullmq'].includes(name)),
      [],
    );
  });

  it('loads nothing for the service that only an agent or another queue needs', async (t) => {
    const site = await openSite(t);
    const service = await startService(site, { NODE_OPTIONS });
    await until('it is ready', () => isReady(service));
    await service.stop();
    const loaded = service.said().split('\n');
    assert.ok(loaded.includes('bullmq') && loaded.includes('fastify'), String(loaded));
    const others = ['ajv', '@modelcontextprotocol/server', 'zod', 'ioredis', 'pg'];
    assert.deepEqual(
      loaded.filter((name) => others.includes(name)),
      [],
    );
  });

  it('works by its name inside the checkout', skipUnless('npx'), () => {
    const { status, stdout, stderr } = spawnSync(
      findProgram('npx') ?? '',
      ['--no', '--', 'feedback-mirror', '--version'],
      {
        cwd: CHECKOUT,
        encoding: 'utf8',
      },
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^\d+\.\d+\.\d+ \(commit [0-9a-f]{10}\)\n$/);
  });

  it('is installed on a Node of the system that is too old without a warning, as it runs on the one that comes with it', {
    skip: oldNode ? false : 'no Node older than 22 is installed',
  }, () => {
    const npm = realpathSync(findProgram('npm') ?? '');
    const { status, stderr } = spawnSync(oldNode ?? '', [npm, 'ci', '--dry-run'], {
      cwd: CHECKOUT,
      env: { PATH: process.env.PATH, HOME: tmpdir(), npm_config_update_notifier: 'false' },
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
  });

  it('on a Node that is too old says so in one sentence', {
    skip: oldNode ? false : 'no Node older than 22 is installed',
  }, () => {
    const { status, stdout, stderr } = spawnSync(oldNode ?? '', [ENTRY, 'config'], {
      cwd: tmpdir(),
      encoding: 'utf8',
    });
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(
      stderr,
      /^feedback-mirror needs Node 22 from 22\.19 on, or Node 24 or newer, and this is Node \d+\.\d+\.\d+: [^\n]*\.\n$/,
    );
  });
});
