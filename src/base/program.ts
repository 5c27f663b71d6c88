import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The checkout runs TypeScript, the package what it was compiled to. */
const IS_COMPILED = import.meta.filename.endsWith('.js');

/**
 * A file of this program that is named in a string: a child process, a thread, SQL, something that is served. Named as in the
 * checkout; of a module the package has the JavaScript, and everything else is where it was.
 */
export function ownFile(name: string, from: string): URL {
  return new URL(IS_COMPILED ? name.replace(/\.ts$/, '.js') : name, from);
}

export interface Version {
  version: string;
  /** Null in a copy of the checkout that came without git. */
  commit: string | null;
}

let found: Version | undefined;

/** Of the checkout as git has it now; of a package as it was built. */
export function programVersion(): Version {
  found ??= readVersion();
  return found;
}

export function versionText({ version, commit }: Version = programVersion()): string {
  return commit === null ? version : `${version} (commit ${commit})`;
}

function readVersion(): Version {
  const file = ownFile('../../package.json', import.meta.url);
  const { version, commit } = JSON.parse(readFileSync(file, 'utf8')) as Version & { commit?: string | null };
  return { version, commit: commit ?? (IS_COMPILED ? null : commitOf(fileURLToPath(new URL('.', file)))) };
}

/** Null where git is missing or does not trust the owner of the folder. A repository around the folder is not asked. */
export function commitOf(folder: string): string | null {
  if (!existsSync(`${folder}/.git`)) return null;
  try {
    // Here and not above: most processes that load this file never ask git.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const git = ['-C', folder, 'rev-parse', '--short=10', 'HEAD'];
    return execFileSync('git', git, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
