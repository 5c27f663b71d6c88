import Database from 'better-sqlite3';
import type { Fixture } from '../fixture.ts';

/** A look at the mirror's file with nothing of the program in between. */
export function inMirror<T>(path: string, read: (db: Database.Database) => T): T {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** After every kill, before anybody else opens the file. */
export function checkFile({ mirror, tally }: Fixture, cause: string): void {
  inMirror(mirror, (db) => {
    const said = db.pragma('integrity_check', { simple: true });
    tally.check('integrity_check is ok after every kill', said === 'ok', () => `after ${cause}: ${said}`);
    const orphans = db.pragma('foreign_key_check') as unknown[];
    tally.check('foreign keys hold after every kill', orphans.length === 0, () =>
      `after ${cause}: ${JSON.stringify(orphans.slice(0, 3))}`.trim(),
    );
  });
}
