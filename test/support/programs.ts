import { accessSync, constants, globSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian keeps the programs of a PostgreSQL server off the PATH, one folder a version, and nginx off that of ordinary users. */
const ELSEWHERE = ['/usr/lib/postgresql/*/bin', '/usr/sbin'];

/** Every installed program of that name, the first on the PATH first. */
export function findPrograms(name: string): string[] {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...onPath, ...globSync(ELSEWHERE).sort().reverse()]
    .map((folder) => join(folder, name))
    .filter(canRun);
}

export function findProgram(name: string): string | null {
  return findPrograms(name)[0] ?? null;
}

/** The shell without a window, where it is installed: it takes a third less processor time than the whole browser. */
export const BROWSER = findProgram('chromium-headless-shell') ? 'chromium-headless-shell' : 'chromium';

/** The program's path, for those that have checked or cannot go on without it. */
export function requireProgram(name: string): string {
  const path = findProgram(name);
  if (!path) throw new Error(`${name} is not installed`);
  return path;
}

/** For the options of a test: skipped where a program is missing, except under CI, where nothing may go untested unnoticed. */
export function skipUnless(...names: string[]): { skip: string | false } {
  const missing = names.find((name) => findProgram(name) === null);
  if (missing === undefined) return { skip: false };
  if (process.env.CI === 'true')
    throw new Error(`${missing} is not installed, and CI must not skip its tests`);
  return { skip: `${missing} is not installed` };
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
