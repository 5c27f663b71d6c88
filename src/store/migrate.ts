import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { AppError } from '../base/errors.ts';
import { ownFile } from '../base/program.ts';

const FOLDER = ownFile('./migrations/', import.meta.url);

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Numbered files, never edited once released: 0001_mirror.sql is version 1. */
export function migrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: readFileSync(new URL(name, FOLDER), 'utf8'),
    }));
}

/** Brings the database to the newest version, one transaction a step. A newer one is refused untouched. */
export function migrate(db: Database, all: readonly Migration[] = migrations()): void {
  refuseNewer(db, all);
  const current = versionOf(db);
  for (const { version, sql } of all) if (version > current) apply(db, version, sql);
}

/** A newer program may have changed anything, even the place where a mirror says whose it is. */
export function refuseNewer(db: Database, all: readonly Migration[] = migrations()): void {
  const newest = all.at(-1)?.version ?? 0;
  const current = versionOf(db);
  if (current > newest) throw tooNew(db, current, newest);
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
    {
      hint: 'Update this program, or point MIRROR_PATH at another file.',
    },
  );
}
