import { iso } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { senderLock } from '../../db/lock.ts';
import type { Db, OpenOptions, StoreOptions } from '../../db/open.ts';
import { dataVersion, immediate } from '../../db/sql.ts';
import { openClaimLog } from '../../mirror/file/older-copy.ts';
import { openMirror } from '../../mirror/file/open.ts';
import { TRANSITIONS } from '../decide/states.ts';
import type {
  Acceptance,
  AttemptEnd,
  Claim,
  Edit,
  NewRow,
  OutboxRow,
  Refusal,
  RowChange,
  Transition,
} from '../decide/types.ts';
import { duplicateTable } from './imports.ts';
import { outboxReader } from './reads.ts';
import { outboxWriter } from './writes.ts';

export type OutboxStore = ReturnType<typeof openOutboxStore>;

/** The outbox, over a connection of its own. Each call is one transaction, and is on disk before it returns: a caller relies on it. */
export function openOutboxStore(options: StoreOptions) {
  const db = openDurably(options);
  const reads = outboxReader(db);
  const writes = outboxWriter(db, options, reads);
  const sender = senderLock(options);
  const log = openClaimLog(db, options);
  const commit = <A extends unknown[], R>(work: (...args: A) => R) => immediate(db, work);
  const duplicates = duplicateTable(db);
  return {
    ...reads,
    ...recordedWrites(commit, writes, log),
    ...batchWrites(commit, writes.batches),
    /** One transition of the state machine; null when the row is in no state that it starts from, or its post confirms another row. */
    move: commit(writes.move),
    refusal: writes.refusal,
    /** Replaces the words of a row for a person, and keeps the old ones. Null if the state of the row does not allow it. */
    edit: commit(writes.edit),
    /** Several of them in one transaction; returns the ids of those that were in a state for it. */
    editAll: commit((edits: readonly Edit[]): number[] =>
      edits.flatMap((edit) => writes.edit(edit)?.id ?? []),
    ),
    /** Likely duplicates of a file that is not imported yet, for a person who decides about them. */
    duplicates: { ...duplicates, keep: commit(duplicates.keep) },
    /** Several rows along one transition, in one transaction; returns how many moved. */
    moveAll: commit(
      (ids: readonly number[], transition: Transition, change: RowChange): number =>
        ids.filter((id) => writes.move(id, transition, change) !== null).length,
    ),
    checked: commit(writes.checked),
    noteSeconds: commit(writes.noteSeconds),
    /** Whether the service keeps marks on the posts of a board. */
    noteMark: commit(writes.noteMark),
    setPaused: commit(writes.setPaused),
    /** No row for this board is claimed for a while. A post that is taken there ends it. */
    refuseBoard: commit(writes.refuseBoard),
    /** Changes whenever another connection wrote to the file. */
    dataVersion: dataVersion(db),
    /** Keeps every other process from sending; the operating system releases it if we die. */
    lockSender: sender.take,
    /** The same for a service. While another process sends, it waits for the lock until it gets it or is closed. */
    lockSenderFirst: sender.takeFirst,
    /** Whether a process that stays waits for the lock: a command that sends for a while leaves it to that one. */
    isSenderWanted: sender.isWanted,
    close(): void {
      sender.leave();
      log.close();
      db.close();
    },
  };
}

type Writes = ReturnType<typeof outboxWriter>;
type Commit = <A extends unknown[], R>(work: (...args: A) => R) => (...args: A) => R;

/** The writes that the log of claims beside the outbox has to know of. */
function recordedWrites(commit: Commit, writes: Writes, log: ReturnType<typeof openClaimLog>) {
  const endAttempt = commit(writes.endAttempt);
  const claim = commit((request: Claim) => {
    if (!log.isNewest()) return { refused: 'gone' as const };
    const row = writes.claim(request);
    return 'refused' in row ? row : { row, head: log.advance() };
  });
  return {
    /** Takes rows in; each is accepted, already there, or in conflict with a row of the same key and other content. */
    accept: commit((rows: readonly NewRow[], now: number): Acceptance[] => {
      const taken = writes.accept(rows, iso(now));
      log.checkAccepted(rows, taken, now);
      return taken;
    }),
    /** The row is to be sent: its state, attempt and deadline are on disk before this returns. */
    claim(request: Claim): OutboxRow | Refusal {
      const claimed = claim(request);
      if ('refused' in claimed) return claimed;
      const { row, head } = claimed;
      try {
        log.record(head, row);
      } catch (error) {
        // Not recorded means not sent: the row goes back, as if it had not been claimed.
        endAttempt(notSent(row, request.now, messageOf(error)));
        throw error;
      }
      return row;
    },
    /** The end of an attempt and where its row goes from there, together; null, and nothing written, where `move` would refuse. */
    endAttempt,
  };
}

/** What a person decides about a whole import. */
function batchWrites(commit: Commit, batches: Writes['batches']) {
  const release = commit(batches.release);
  return {
    /** A pace of its own for an import, before its first row is accepted. */
    paceBatch: commit(batches.pace),
    /** Sets the text before the reference mark of an import, before its first row is accepted. */
    markBatch: commit(batches.mark),
    /** No row of the batch is claimed any more until it is resumed; returns how many rows that holds. */
    pauseBatch: commit(batches.pause),
    resumeBatch: commit(batches.resume),
    /** No row of the batch is claimed any more, for good; each of them is still to be moved to `cancelled`. */
    stopBatch: commit(batches.stop),
    reopenBatch: commit(batches.reopen),
    /** Frees rows of slow imports whose turn has come; when the next one's comes, or null. */
    releasePaced(now: number): number | null {
      if ((batches.nextRelease(now) ?? Number.POSITIVE_INFINITY) <= now) release(now);
      return batches.nextRelease(now);
    },
  };
}

function notSent({ id, attempts }: OutboxRow, now: number, reason: string): AttemptEnd {
  const error = `the claim could not be recorded: ${reason}`;
  const attempt = { id, n: attempts, outcome: 'not-sent' as const, httpStatus: null, error };
  return { ...attempt, isVoid: true, transition: TRANSITIONS.release, change: { now, error } };
}

/** Every commit over this connection is flushed before it returns. */
export function openDurably(options: OpenOptions): Db {
  const db = openMirror(options);
  db.pragma('synchronous = FULL');
  // Beside the mirror's own connection; an import of a million rows fills whatever it is given, and is no faster for it.
  db.pragma('cache_size = -12000');
  return db;
}
