import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { messageOf } from '../base/errors.ts';
import { probeDisk } from './disk-probe.ts';
import { moveAside, prepareFolder, restrictFiles } from './folder.ts';
import { pauseAfter, refuseIfClosed } from './patience.ts';
import { type Patience, PgliteSession } from './pglite-session.ts';
import type { QueueOptions, Trouble } from './seam.ts';
import type { Template } from './template.ts';

export type Place = Pick<QueueOptions, 'folder' | 'log'> & { patience: Patience; template?: Template };

/** The queue is only a bell: a folder that cannot be read must not keep the service from starting. */
export async function openOrReplace(place: Place): Promise<PgliteSession> {
  const never = new AbortController().signal;
  try {
    return await openDatabase(place, never);
  } catch (error) {
    // On a full disk the new one would fare no better, and the old one is whole.
    await probeDisk(place.folder);
    setAside(place, error);
    return await openDatabase(place, never);
  }
}

/**
 * The database again after it broke down, as soon as its disk can be written. What fails to open then, twice, is given up: the first
 * folder of an outage is kept aside, the half-made ones that may follow are not worth it.
 */
export async function reopen(place: Place, trouble: Trouble, closing: AbortSignal): Promise<PgliteSession> {
  let [refusals, hasSetAside] = [0, false];
  for (let failures = 0; ; failures++) {
    refuseIfClosed(closing);
    try {
      await probeDisk(place.folder).catch((error: unknown) => {
        refusals = 0;
        throw error;
      });
      if (refusals >= 2) {
        if (hasSetAside) await rm(place.folder, { recursive: true, force: true });
        else setAside(place, 'it broke down, and twice it could not be opened again');
        [refusals, hasSetAside] = [0, true];
      }
      refusals++;
      return await openDatabase(place, closing);
    } catch (error) {
      refuseIfClosed(closing);
      trouble.away(error instanceof Error ? error : new Error(String(error)));
      await pauseAfter(failures, closing);
    }
  }
}

function setAside({ folder, log }: Place, error: unknown): void {
  const aside = moveAside(folder);
  log.warn(
    `queue: ${folder} could not be opened (${messageOf(error)}); it is now ${aside}, and a new one takes its place`,
  );
}

async function openDatabase(place: Place, closing: AbortSignal): Promise<PgliteSession> {
  const { folder, patience, template } = place;
  prepareFolder(folder);
  const isNew = readdirSync(folder).length === 0;
  const isCopy = isNew && (await template?.copyTo(folder)) === true;
  const db = new PgliteSession({ folder }, patience);
  const stop = (): void => void db.kill('the queue is closed');
  closing.addEventListener('abort', stop);
  try {
    // BullMQ is loaded while the thread opens the database, which takes longer.
    const [backend] = await Promise.all([import('./pg-backend.ts'), db.ready]);
    await prepare(db, backend, patience.openMs);
    restrictFiles(folder);
    if (isNew && !isCopy) await keepAsTemplate(db, place);
    return db;
  } catch (error) {
    await db.kill(messageOf(error));
    if (isCopy) await template?.drop();
    throw error;
  } finally {
    closing.removeEventListener('abort', stop);
  }
}

/** Nobody asks anything yet, and PGlite does nothing by itself: after a checkpoint the files are what a kill would leave. */
async function keepAsTemplate(db: PgliteSession, { folder, template }: Place): Promise<void> {
  if (!template) return;
  await db.query('CHECKPOINT');
  await template.keep(folder);
}

async function prepare(
  db: PgliteSession,
  { migrate, USE_SCHEMA }: typeof import('./pg-backend.ts'),
  patienceMs: number,
): Promise<void> {
  await migrate({ query: (text, params) => db.query(text, params, patienceMs) });
  await db.query(USE_SCHEMA);
  // Reads every table once: a file that is missing shows now and not at the first job.
  await db.query('SELECT count(*) FROM job');
}
