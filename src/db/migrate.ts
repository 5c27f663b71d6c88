import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { AppError } from '../base/errors.ts';
import { createPrivately, makeFolder, temporaryName } from '../base/files.ts';
import { ownFile } from '../base/program.ts';
import { closeAfter, filesOf, writeMeta } from './sql.ts';

const FOLDER = ownFile('./migrations/', import.meta.url);

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

let known: readonly Migration[] | undefined;

/**
 * Numbered files, never edited once released. The first is the whole schema of a new mirror, 0026_schema.sql, and makes version 26. Read
 * once: the service opens the mirror 15 times.
 */
export function migrations(): readonly Migration[] {
  known ??= readMigrations();
  return known;
}

function readMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: readFileSync(new URL(name, FOLDER), 'utf8'),
    }));
}

/** Brings the database to the newest version, a transaction a step. Of an older one, `keep` is called first. */
export function migrate(
  db: Database,
  all: readonly Migration[] = migrations(),
  keep: (from: number, to: number) => void = () => undefined,
): void {
  refuseUnknown(db, all);
  const [current, newest] = [versionOf(db), newestOf(all)];
  if (current > 0 && current < newest) keep(current, newest);
  for (const { version, sql } of all) if (version > current) apply(db, version, sql);
}

function newestOf(all: readonly Migration[]): number {
  return all.at(-1)?.version ?? 0;
}

/** A newer program may have changed anything, even the place where a mirror says whose it is. An older mirror lacks the first step here. */
export function refuseUnknown(db: Database, all: readonly Migration[] = migrations()): void {
  const [current, newest] = [versionOf(db), newestOf(all)];
  if (current > newest) throw tooNew(db, current, newest);
  if (current > 0) refuseOlder(`the mirror ${db.name}`, current, all);
}

/** The last version of the program that brings mirrors of any older schema up to date. */
const UPGRADING_VERSION = '0.1.0';

/** `what` has a schema from before the first migration that this program knows. */
export function refuseOlder(what: string, version: number, all: readonly Migration[] = migrations()): void {
  const oldest = all[0]?.version ?? 0;
  if (version >= oldest) return;
  throw new AppError(
    'usage',
    `${what} has schema ${version}, and this program opens schema ${oldest} and newer; nothing was written`,
    {
      hint: `Use feedback-mirror ${UPGRADING_VERSION} once (in a checkout: git checkout v${UPGRADING_VERSION} && npm ci). It opens every older schema and brings the mirror up to date. Then use this version again.`,
    },
  );
}

export function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

function apply(db: Database, version: number, sql: string): void {
  const step = db.transaction(() => {
    // Another process may have come first between our look and our lock.
    if (versionOf(db) >= version) return;
    db.exec(sql);
    db.pragma(`user_version = ${version}`);
  });
  step.immediate();
}

function tooNew(db: Database, current: number, newest: number): AppError {
  return new AppError(
    'usage',
    `the mirror ${db.name} was written by a newer version (schema ${current}, this program knows ${newest})`,
    { hint: 'Install that version, or a newer one, or point MIRROR_PATH at another file.' },
  );
}

/** A copy of the mirror as it was, under a name of its version. Throws where there is no room for it: then nothing is migrated. */
export function keepCopy(db: Database, folder: string, version: number): string {
  const path = join(folder, `mirror-schema-${version}.db`);
  const part = temporaryName(path);
  makeFolder(folder);
  createPrivately(part);
  try {
    db.prepare('VACUUM INTO ?').run(part);
    // Where another process has migrated meanwhile, it has also kept the copy.
    if (markCopied(part) === version) renameSync(part, path);
  } finally {
    for (const file of filesOf(part)) rmSync(file, { force: true });
  }
  return path;
}

/** Marks a file, so that it counts as an older copy if a person puts it back. Returns its schema version. */
function markCopied(path: string): number {
  return closeAfter(new Sqlite(path), (copy) => {
    writeMeta(copy, 'copied_at', new Date().toISOString());
    return versionOf(copy);
  });
}
