import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createPrivately } from '../base/files.ts';
import type { Busy, Lock } from './mirror/types.ts';

/** SQLite's exclusive lock on a file of its own: the kernel keeps it for a frozen holder and frees it at once for a killed one. */
export function takeLock(path: string, holder: string): Lock | Busy {
  createPrivately(path);
  const db = new Database(path, { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (isBusy(error)) return { ok: false, holder: readHolder(path) };
    throw error;
  }
  writeFileSync(holderFile(path), `${holder}\n`, { mode: 0o600 });
  held.add(db);
  return {
    ok: true,
    release() {
      held.delete(db);
      db.close();
    },
  };
}

export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** Whoever takes a lock for life may drop what it was given; a handle that is collected as garbage would let the lock go. */
const held = new Set<Database.Database>();

/** Who has the lock, without taking it or making its file; null when nobody does. */
function lockHolder(path: string): string | null {
  if (!existsSync(path)) return null;
  const db = new Database(path, { readonly: true, timeout: 0 });
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return null;
  } catch (error) {
    if (isBusy(error)) return readHolder(path);
    throw error;
  } finally {
    db.close();
  }
}

function holderFile(path: string): string {
  return `${path}.holder`;
}

/** Only told to people: the lock itself does not depend on it. */
function readHolder(path: string): string {
  try {
    return readFileSync(holderFile(path), 'utf8').trim();
  } catch {
    return 'another process';
  }
}

/** Who may send: one process at a time, and a service before the commands that send for a while when there is none. */
/** Two locks: the one that sends, and the place of the one that is next. Both are the kernel's, so the dead hold neither. */
export function senderLock({ path, holder }: { path: string; holder: string }) {
  let place: Lock | null = null;
  const whose = (): string => `${holder}, since ${new Date().toISOString()}`;
  const take = (): Lock | Busy => takeLock(senderLockPath(path), whose());
  const leave = (): void => {
    place?.release();
    place = null;
  };
  return {
    take,
    takeFirst(): Lock | Busy {
      const lock = take();
      if (lock.ok) leave();
      else place ??= placeInLine(path, whose());
      return lock;
    },
    isWanted: (): boolean => place === null && lockHolder(nextPath(path)) !== null,
    /** Gives up a place in the line. */
    leave,
  };
}

function placeInLine(path: string, holder: string): Lock | null {
  const place = takeLock(nextPath(path), holder);
  return place.ok ? place : null;
}

/** Whoever has this lock of a mirror sends. */
export function senderLockPath(mirror: string): string {
  return `${mirror}.sender.lock`;
}

function nextPath(path: string): string {
  return `${path}.sender-next.lock`;
}
