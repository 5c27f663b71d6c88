import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import Database from 'better-sqlite3';
import { CHECKOUT } from '../../test/support/cli.ts';
import { findProgram } from '../../test/support/programs.ts';

/** Everything besides the code that decides about a number. */
export interface Circumstances {
  date: string;
  machine: string;
  versions: string;
  commit: string;
}

const PEERS = ['redis-server', 'postgres', 'curl', 'jq', 'sqlite-utils', 'python3'];

export function circumstances(now: Date): Circumstances {
  return { date: now.toISOString().slice(0, 10), machine: machine(), versions: versions(), commit: commit() };
}

function machine(): string {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const cores = `${cpus().length} ${cpus().length === 1 ? 'core' : 'cores'}`;
  return `${first?.model.trim() || 'unknown processor'}, ${cores}, ${memory}, ${type()} ${release()}`;
}

function versions(): string {
  const db = new Database(':memory:');
  const sqlite = String(db.prepare('SELECT sqlite_version()').pluck().get());
  db.close();
  const others = PEERS.map((name) => `${name} ${versionOf(name) ?? 'not installed'}`);
  return [`node ${process.versions.node}`, `sqlite ${sqlite}`, ...others].join(', ');
}

/** The first thing in its answer that looks like a version, for each program words its answer in its own way. */
function versionOf(name: string): string | null {
  const path = name === 'python3' ? (pythonOfSqliteUtils() ?? findProgram(name)) : findProgram(name);
  if (path === null) return null;
  const said = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return /\d+(\.\d+)+/.exec(said)?.[0] ?? 'of unknown version';
}

/** What was measured; changes that are in no commit are told, except for the results themselves. */
function commit(): string {
  try {
    const head = git('rev-parse', '--short', 'HEAD');
    const changes = git(
      'status',
      '--porcelain',
      '--',
      'src',
      'jobs',
      'config',
      'bench',
      ':!bench/RESULTS.md',
    );
    return changes === '' ? head : `${head} with changes`;
  } catch {
    return 'unknown';
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: CHECKOUT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** The Python that has sqlite_utils is the one its program was installed for. */
export function pythonOfSqliteUtils(): string | null {
  const program = findProgram('sqlite-utils');
  if (program === null) return null;
  return /^#!(\S+)/.exec(readFileSync(program, 'utf8'))?.[1] ?? null;
}
