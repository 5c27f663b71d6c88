import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './child.ts';
import { pythonOfSqliteUtils } from './machine.ts';
import { missing } from './peers.ts';
import type { Upstream } from './upstream.ts';

/** One of the small scripts that fetch the same list into a file of their own. */
export interface Floor {
  name: string;
  /** As one could type it. */
  command: string;
  /** What this machine lacks for it, as packages; empty when it can run. */
  lacks: string;
  program(upstream: Upstream, file: string): Program;
}

const FOLDER = join(import.meta.dirname, '../floors');
const TOKEN = 'sandbox';

/** The least one could write: posts only. */
export const postsFloor = floor('floor script', process.execPath, 'node', 'upsert.ts', []);
/** The same with a second table, for those who wrote them. */
export const peopleFloor = floor(
  'floor with people',
  process.execPath,
  'node',
  'upsert.ts',
  [],
  ['--people'],
);
export const shellFloor = floor('curl + jq + sqlite-utils', 'sh', 'sh', 'curl-jq.sh', [
  'curl',
  'jq',
  'sqlite-utils',
]);
/** Each row by itself, as github-to-sqlite does. */
export const pythonFloor = pythonFloorWith('Python in the manner of github-to-sqlite');
/** The quickest way of the same library. */
export const pythonPagesFloor = pythonFloorWith('Python, a page at a time', '--pages');

function pythonFloorWith(name: string, ...flags: string[]): Floor {
  const python = pythonOfSqliteUtils() ?? 'python3';
  return floor(name, python, 'python3', 'github_manner.py', ['python3', 'sqlite-utils'], flags);
}

function floor(
  name: string,
  command: string,
  typed: string,
  script: string,
  needs: string[],
  flags: string[] = [],
): Floor {
  return {
    name,
    command: [typed, `bench/floors/${script}`, 'URL TOKEN FILE', ...flags].join(' '),
    lacks: missing(...needs),
    program: ({ url }, file) => ({ command, args: [join(FOLDER, script), url, TOKEN, file, ...flags] }),
  };
}

/** A database and what SQLite keeps beside it. */
export function removeDatabase(file: string): void {
  for (const side of ['', '-wal', '-shm']) if (existsSync(file + side)) rmSync(file + side);
}
