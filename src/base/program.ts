import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AppError, messageOf } from './errors.ts';

/** The checkout runs TypeScript, the package what it was compiled to. */
const IS_COMPILED = import.meta.filename.endsWith('.js');

export const COMMAND_NAME = IS_COMPILED ? 'feedback-mirror' : 'npx feedback-mirror';

/**
 * A file of this program that is named in a string: a child process, a thread, SQL, something that is served. Named as in the
 * checkout; of a module the package has the JavaScript, and everything else is where it was.
 */
export function ownFile(name: string, from: string): URL {
  return new URL(IS_COMPILED ? name.replace(/\.ts$/, '.js') : name, from);
}

/** A folder of the checkout. In the package it is beside what was compiled. */
function folder(name: string): URL {
  return new URL(`${IS_COMPILED ? '../../..' : '../..'}/${name}/`, import.meta.url);
}

export const DOCS = folder('docs');
export const SCHEMAS = folder('schemas');

interface Manifest {
  version: string;
  /** Written by the build; a checkout asks git. */
  commit?: string | null;
  /** What a plain install leaves out. */
  peerDependencies: Record<string, string>;
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(ownFile('../../package.json', import.meta.url), 'utf8')) as Manifest;
}

export interface Version {
  version: string;
  commit: string | null;
}

let found: Version | undefined;

/** The version of the checkout by git, or of the package by its build. */
export function programVersion(): Version {
  found ??= readVersion();
  return found;
}

export function versionText(): string {
  const { version, commit } = programVersion();
  return commit === null ? version : `${version} (commit ${commit})`;
}

function readVersion(): Version {
  const { version, commit } = manifest();
  const folder = ownFile('../..', import.meta.url);
  return { version, commit: IS_COMPILED ? (commit ?? null) : commitOf(fileURLToPath(folder)) };
}

/** Null where git is missing or does not trust the owner of the folder. A repository around the folder is not asked. */
export function commitOf(folder: string): string | null {
  if (!existsSync(`${folder}/.git`)) return null;
  try {
    // Loaded here, because most processes never ask git.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const git = ['-C', folder, 'rev-parse', '--short=10', 'HEAD'];
    return execFileSync('git', git, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}

/** What was thrown as a sentence that says what to install, where a package is missing that a plain install leaves out; else null. */
export function missingPackage(error: unknown): AppError | null {
  const name = /^Cannot find (?:package|module) '((?:@[^/']+\/)?[^/']+)/.exec(messageOf(error))?.[1] ?? '';
  if (!Object.hasOwn(manifest().peerDependencies, name)) return null;
  return new AppError('usage', `this needs the package ${name}, which a plain install leaves out`, {
    cause: error,
    hint: installHint(name),
  });
}

/** Packages of one family only work together. */
export function installHint(name: string): string {
  const packages = Object.entries(manifest().peerDependencies)
    .filter(([peer]) => familyOf(peer) === familyOf(name))
    .map(([peer, version]) => `${peer}@${version}`);
  return `Install it beside feedback-mirror, with -g where that is global: npm install ${packages.join(' ')}`;
}

/** The tools for agents are written in the schemas of zod, which a global install does not share between packages. */
function familyOf(name: string): string {
  return name === 'zod' ? '@modelcontextprotocol/' : name.replace(/(?<=^@[^/]+\/).*/, '');
}
