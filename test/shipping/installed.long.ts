import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../support/cli.ts';
import { installGlobally, npm, pack } from './package.ts';

/**
 * `npm run installed`: the package as people get it. What is packed and what the Dockerfile makes of it (`package.long.ts`,
 * `docker.long.ts`), a part of the tests and a minute of chaos against it in a fresh prefix, and a first run on the oldest and the newest
 * Node, and on the first whose own SQLite is used. What `npm run installed -- 22.19.0 26.10.0` names instead of those is tried.
 */
const TESTS = [
  ...[
    'sync',
    'create',
    'import',
    'import-layouts',
    'outbox',
    'report',
    'query',
    'export',
    'changes',
    'backup',
  ],
  ...['start', 'doctor', 'config'],
];
const COMMANDS = [
  ['sync'],
  ['status'],
  ['report', 'top-posts'],
  ['query', 'SELECT count(*) FROM posts'],
  ['import', 'western.csv'],
  ['backup', 'copy.db'],
];
/** As Excel saves it in windows-1252: some Nodes read its quotes and the euro as control characters, which refuse the row. */
const WESTERN = Buffer.from('board,title\nfeature-requests,\x93Quotes\x94 for 5 \x80\n', 'latin1');

/** Of each dialect one: without modules, without newer syntax, and one that would crash later. */
const TOO_OLD = ['10.24.1', '12.22.12', '14.21.3', '23.0.0'];

const { peerDependencies } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as {
  peerDependencies: Record<string, string>;
};
const packed = pack();
let failures = 0;
try {
  const peers = Object.entries(peerDependencies).map(([name, version]) => `${name}@${version}`);
  const program = installGlobally(packed, packed.tarball, '--ignore-scripts', ...peers);
  process.stdout.write(`${packed.bytes} bytes in ${packed.files.length} files, installed as ${program}\n`);
  const shipped = ['package', 'docker'].map((name) => `test/shipping/${name}.long.ts`);
  const files = TESTS.map((name) => `test/cli/${name}.e2e.test.ts`);
  const runner = ['--import', './test/support/seed.ts', '--test', '--test-reporter=dot'];
  attempt('package and image', ['--test', '--test-reporter=spec', '--test-concurrency=1', ...shipped], null);
  attempt('the tests of the command line', [...runner, ...files], program);
  attempt('a minute of chaos', ['test/chaos/chaos.long.ts', '--minutes', '1', '--seed', '1'], program);
  const versions = process.argv.length > 2 ? process.argv.slice(2) : ['22.19.0', '24.15.0', 'latest'];
  for (const version of versions) firstRun(version, program);
  for (const version of TOO_OLD) refusal(version, program);
} finally {
  packed.remove();
}
process.exit(failures === 0 ? 0 : 1);

/** With the installed program as the one under test; null for what installs its own. */
function attempt(what: string, args: string[], program: string | null): void {
  const env = program === null ? process.env : { ...process.env, FEEDBACK_MIRROR: program };
  const { status } = spawnSync(process.execPath, args, {
    cwd: CHECKOUT,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  tell(status === 0 ? '' : `exit ${status}`, what);
}

function firstRun(version: string, program: string): void {
  const { folder, node } = install(version);
  writeFileSync(join(folder, 'western.csv'), WESTERN);
  const failed = COMMANDS.filter(
    (args) => spawnSync(node, [program, ...args], { cwd: folder, stdio: 'inherit' }).status !== 0,
  );
  tell(failed.join('; '), `a first run on Node ${version}`);
}

function refusal(version: string, program: string): void {
  const { node } = install(version);
  const { status, stderr } = spawnSync(node, [program, 'status'], { encoding: 'utf8' });
  const isSaid = status === 2 && /^feedback-mirror needs Node [^\n]+\n$/.test(stderr);
  tell(isSaid ? '' : stderr, `Node ${version} is told that it is too old`);
}

/** The npm package `node` brings a Node of any version. */
function install(version: string): { folder: string; node: string } {
  const folder = join(packed.folder, `node ${version}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"allowScripts":{"node":true}}');
  npm(['install', `node@${version}`], folder);
  return { folder, node: join(folder, 'node_modules/.bin/node') };
}

function tell(failure: string, what: string): void {
  if (failure !== '') failures++;
  process.stdout.write(`${failure === '' ? 'held' : `FAILED at ${failure}`}: ${what}\n`);
}
