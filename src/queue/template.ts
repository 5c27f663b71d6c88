import { existsSync } from 'node:fs';
import { cp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Beside the compiled code, in the checkout: whoever can write there can change the program itself. */
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/feedback-mirror');

/**
 * A new database of the queue, as it is before its first job, to be copied instead of made: PostgreSQL takes six seconds of processor
 * time to make one. Of what goes wrong here nothing is lost but time.
 */
export interface Template {
  /** Fills an empty folder; false where there is nothing to fill it with. */
  copyTo(folder: string): Promise<boolean>;
  /** Keeps a copy of a folder that nobody writes to at the moment. */
  keep(folder: string): Promise<void>;
  /** It was of no use. */
  drop(): Promise<void>;
}

export function templateAt(path: string): Template {
  return {
    async copyTo(folder) {
      if (!existsSync(path)) return false;
      try {
        await cp(path, folder, { recursive: true });
        return true;
      } catch {
        for (const name of await readdir(folder)) await remove(join(folder, name));
        return false;
      }
    },
    async keep(folder) {
      const half = `${path}.${process.pid}`;
      try {
        await cp(folder, half, { recursive: true });
        await rename(half, path);
      } catch {
        await remove(half);
      }
    },
    drop: () => remove(path),
  };
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/** Of this version of the database: another one could not read it. */
export function defaultTemplate(version: string): Template {
  return templateAt(join(CACHE, `queue-${version}`));
}
