import { basename, dirname, join } from 'node:path';
import { AppError, messageOf } from '../base/errors.ts';
import { moveAside, prepareFolder, restrictFiles } from './folder.ts';
import { migrate, pgMakers, USE_SCHEMA } from './pg-backend.ts';
import { openPglite, type PgliteSession } from './pglite-session.ts';
import type { Connection, QueueOptions } from './seam.ts';

/** PostgreSQL in this process. One process only: a second one on the same folder would destroy it, so the lock comes first. */
export async function openEmbedded(
  options: Pick<QueueOptions, 'folder' | 'log' | 'takeLock'>,
): Promise<Connection> {
  const { folder } = options;
  prepareFolder(folder);
  const lock = options.takeLock(join(dirname(folder), `${basename(folder)}.lock`));
  if (!lock.ok)
    throw new AppError('busy', `the queue in ${folder} is in use by ${lock.holder}`, {
      hint: 'One service a data folder: stop the other one, or give this one its own DATA_DIR.',
    });
  try {
    const db = await openOrReplace(options);
    restrictFiles(folder);
    return {
      kind: 'embedded',
      place: folder,
      ...pgMakers(db),
      async ping() {
        await db.query('SELECT 1');
      },
      // Autovacuum never runs in PGlite: without this the tables grow with every job that was ever done.
      async upkeep() {
        await db.query('VACUUM ANALYZE');
      },
      async drop() {
        try {
          await db.close();
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

/** The queue is only a bell: a folder that cannot be read must not keep the service from starting. */
async function openOrReplace({ folder, log }: Pick<QueueOptions, 'folder' | 'log'>): Promise<PgliteSession> {
  try {
    return await openDatabase(folder);
  } catch (error) {
    const aside = moveAside(folder);
    log.warn(
      `queue: ${folder} could not be opened (${messageOf(error)}); it is now ${aside}, and a new one takes its place`,
    );
    prepareFolder(folder);
    return await openDatabase(folder);
  }
}

async function openDatabase(folder: string): Promise<PgliteSession> {
  const db = await openPglite({ folder });
  try {
    await migrate(db);
    await db.query(USE_SCHEMA);
    // Reads every table once: a file that is missing shows now and not at the first job.
    await db.query('SELECT count(*) FROM job');
    return db;
  } catch (error) {
    await db.close().catch(() => undefined);
    throw error;
  }
}
