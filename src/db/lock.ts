import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createPrivately } from '../base/files.ts';

export interface Lock {
  ok: true;
  release(): void;
}

export interface Busy {
  ok: false;
  /** Who holds it, in words: `process 4711 (sync), since 2026-01-01T…`. */
  holder: string;
}

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

/** A caller that keeps a lock for its lifetime may drop the handle. This set keeps the handle from garbage collection, which would release the lock. */
const held = new Set<Database.Database>();

/** The holder of the lock, without taking it or making its file; null where the lock is free. */
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

export function isLocked(path: string): boolean {
  return lockHolder(path) !== null;
}

function holderFile(path: string): string {
  return `${path}.holder`;
}

/** Messages name the holder; the lock itself does not depend on it. */
function readHolder(path: string): string {
  try {
    return readFileSync(holderFile(path), 'utf8').trim();
  } catch {
    return 'another process';
  }
}

/**
 * One process sends at a time. There are two locks: of the process that sends, and of the one that is next. A service takes its turn
 * before the commands that send while there is no service. The kernel keeps both locks, so a dead process holds neither.
 */
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
    leave,
  };
}

function placeInLine(path: string, holder: string): Lock | null {
  const place = takeLock(nextPath(path), holder);
  return place.ok ? place : null;
}

/** The process that has this lock sends. */
export function senderLockPath(mirror: string): string {
  return `${mirror}.sender.lock`;
}

function nextPath(path: string): string {
  return `${path}.sender-next.lock`;
}
