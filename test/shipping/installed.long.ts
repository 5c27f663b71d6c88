import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../support/cli.ts';
import { installGlobally, npm, pack } from './package.ts';

/**
 * `npm run installed`: the package as people get it. What is packed and what the Dockerfile makes of it (`package.long.ts`,
 * `docker.long.ts`), a part of the tests and a minute of chaos against it in a fresh prefix, and a first run on the oldest and the newest
 * Node, and on the first whose own SQLite is used. What `npm run installed -- 22 26.10.0` names instead of those is tried.
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

/** The first Node that is supported, the first whose own SQLite is used, and the newest. */
const SUPPORTED = ['>=22.19.0 <23', '>=24.15.0 <25', 'latest'];

/** Of each dialect one: without modules, without newer syntax, and one that would crash later. */
const TOO_OLD = ['10', '12', '14', '23'];

/** Node itself, as npm has it for each kind of machine; not every version is there for every machine. */
const NODE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

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
  const files = globSync(
    TESTS.map((name) => `test/cli/${name}.{e2e,long}.test.ts`),
    { cwd: CHECKOUT },
  );
  const runner = ['--import', './test/support/seed.ts', '--test', '--test-reporter=dot'];
  attempt('package and image', ['--test', '--test-reporter=spec', '--test-concurrency=1', ...shipped], null);
  attempt('the tests of the command line', [...runner, ...files], program);
  attempt('a minute of chaos', ['test/chaos/chaos.long.ts', '--minutes', '1', '--seed', '1'], program);
  for (const range of process.argv.length > 2 ? process.argv.slice(2) : SUPPORTED) {
    const version = oldest(range);
    if (version === null) tell('npm, which has none for this machine', `a first run on Node ${range}`);
    else firstRun(version, program);
  }
  for (const range of TOO_OLD) {
    const version = oldest(range);
    if (version === null) process.stdout.write(`not tried: npm has no Node ${range} for this machine\n`);
    else refusal(version, program);
  }
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

/** The oldest of a range that npm has for this machine. */
function oldest(range: string): string | null {
  try {
    const told = npm(['view', `${NODE}@${range}`, 'version', '--json'], packed.folder);
    const versions: string[] = [JSON.parse(told)].flat();
    return versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))[0] ?? null;
  } catch (error) {
    if (/E404/.test(String((error as { stderr?: string }).stderr))) return null;
    throw error;
  }
}

function install(version: string): { folder: string; node: string } {
  const folder = join(packed.folder, `node ${version}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  npm(['install', `${NODE}@${version}`], folder);
  return { folder, node: join(folder, 'node_modules', NODE, 'bin/node') };
}

function tell(failure: string, what: string): void {
  if (failure !== '') failures++;
  process.stdout.write(`${failure === '' ? 'held' : `FAILED at ${failure}`}: ${what}\n`);
}
