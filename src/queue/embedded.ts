import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../base/errors.ts';
import { openOrReplace, reopen } from './embedded-database.ts';
import { prepareFolder, restrictFiles } from './folder.ts';
import type { Patience } from './pglite-session.ts';
import { revivingPool } from './reviving-pool.ts';
import type { Connection, QueueOptions, Trouble } from './seam.ts';
import { defaultTemplate } from './template.ts';

const PATIENCE: Patience = { stuckMs: 10_000, openMs: 60_000 };

/** Vacuuming reads and writes every table, and whatever is asked meanwhile stands behind it. */
const UPKEEP_MS = 300_000;

/** PostgreSQL in this process. One process only: a second one on the same folder would destroy it, so the lock comes first. */
export async function openEmbedded(
  options: Pick<QueueOptions, 'folder' | 'log' | 'takeLock'>,
  trouble: Trouble,
  patience: Patience = PATIENCE,
): Promise<Connection> {
  const { folder, log } = options;
  const place = { folder, log, patience, template: defaultTemplate(pgliteVersion()) };
  prepareFolder(folder);
  const lock = options.takeLock(join(dirname(folder), `${basename(folder)}.lock`));
  if (!lock.ok)
    throw new AppError('busy', `the queue in ${folder} is in use by ${lock.holder}`, {
      hint: 'One service a data folder: stop the other one, or give this one its own DATA_DIR.',
    });
  try {
    const pool = revivingPool(await openOrReplace(place), {
      reopen: (closing) => reopen(place, trouble, closing),
      trouble,
    });
    const { pgMakers } = await import('./pg-backend.ts');
    return {
      kind: 'embedded',
      place: folder,
      ...pgMakers(pool),
      async ping() {
        await pool.query('SELECT 1');
      },
      // Autovacuum never runs in PGlite: without this the tables grow with every job that was ever done.
      async upkeep() {
        await pool.query('VACUUM ANALYZE', undefined, UPKEEP_MS);
      },
      async drop() {
        try {
          await pool.close();
          restrictFiles(folder);
        } finally {
          lock.release();
        }
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function pgliteVersion(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
