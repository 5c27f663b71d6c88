import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { json } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { AppError, plainFailure, storageError } from '../base/errors.ts';
import { errnoOf } from '../base/files.ts';
import { isBusy } from '../db/lock.ts';
import { compact, openForWriting } from '../db/open.ts';
import { closeAfter, damageIn, rowsOf } from '../db/sql.ts';
import { markCopy, olderCopyOf, UNKNOWN_MOMENT } from '../mirror/file/older-copy.ts';
import { openMirrorReadOnly } from '../mirror/file/open.ts';
import type { CopyFacts, FileTaskAnswer, FileTaskRequest, FileTasks } from './file-tasks.ts';
import { doHousekeeping } from './housekeeping.ts';

/** The longest pass writes for a moment only; a rewrite that gets no turn in this time will not get one. */
const PATIENCE_MS = 60_000;

const FILE_TASKS: FileTasks = {
  compact({ patienceMs = PATIENCE_MS, ...mirror }) {
    return closeAfter(openForWriting(mirror), (db) => {
      db.pragma(`busy_timeout = ${patienceMs}`);
      return { isClean: compact(db, { patienceMs }) };
    });
  },
  housekeeping: doHousekeeping,
  copy({ to, ...mirror }) {
    const db = openMirrorReadOnly(mirror);
    const older = olderCopyOf(db, mirror);
    const at = older ? (older.since ?? UNKNOWN_MOMENT) : new Date().toISOString();
    try {
      // Takes the copy for a write; the mirror itself is open for reading only.
      db.pragma('query_only = 0');
      // Not page by page, as SQLite's backup does: that starts over whenever somebody writes, and copies unused space too.
      db.prepare('VACUUM INTO ?').run(to);
    } finally {
      db.close();
    }
    markCopy(to, at);
    return checked(to);
  },
};

function checked(path: string): CopyFacts {
  const db = new Database(path, { readonly: true });
  try {
    const how = damageIn(db);
    if (how !== null) throw damaged(how);
    return { bytes: statSync(path).size, rows: rowsOf(db) };
  } finally {
    db.close();
  }
}

function damaged(how: string): AppError {
  return new AppError('storage', `the mirror is damaged: ${how}`, {
    hint: 'See what "feedback-mirror doctor" says, and go back to an earlier copy if there is one.',
  });
}

/** What fails while a copy is written fails in the folder of the copy, which may be on another disk than the mirror. */
const IN_WRITING = /^SQLITE_(FULL|IOERR_(WRITE|FSYNC|TRUNCATE))/;

function explained(error: unknown, to?: string): unknown {
  if (isBusy(error))
    return new AppError('busy', 'another process keeps writing to the mirror', { hint: 'Try again.' });
  const isCorrupt = error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code);
  if (isCorrupt) return damaged(error.message);
  const isOfCopy = to !== undefined && IN_WRITING.test(errnoOf(error));
  return storageError(error, isOfCopy ? dirname(to) : undefined) ?? error;
}

function answer({ task, ...request }: FileTaskRequest): FileTaskAnswer {
  try {
    const run = FILE_TASKS[task] as (request: object) => ReturnType<FileTasks[typeof task]>;
    return { ok: true, result: run(request) };
  } catch (thrown) {
    return { ok: false, ...plainFailure(explained(thrown, 'to' in request ? request.to : undefined)) };
  }
}

process.stdout.write(JSON.stringify(answer((await json(process.stdin)) as FileTaskRequest)));
