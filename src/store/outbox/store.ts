import { iso } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Db, OpenOptions, StoreOptions } from '../db.ts';
import { senderLock } from '../lock.ts';
import { openClaimLog } from '../older-copy.ts';
import { openMirror } from '../open.ts';
import { duplicateTable } from './imports.ts';
import { outboxReader } from './reads.ts';
import type {
  Acceptance,
  AttemptEnd,
  Claim,
  Edit,
  NewRow,
  OutboxRow,
  Refusal,
  RowChange,
  SweepCheck,
  Transition,
} from './types.ts';
import { outboxWriter } from './writes.ts';

export type OutboxStore = ReturnType<typeof openOutboxStore>;

/**
 * The outbox in the mirror's file, over a connection of its own: a commit here is a promise to somebody, so every one of these calls
 * is one transaction that has reached the disk before it returns, while a lost page of the mirror is only read again.
 */
export function openOutboxStore(options: StoreOptions) {
  const db = openDurably(options);
  const reads = outboxReader(db);
  const writes = outboxWriter(db, options, reads);
  const sender = senderLock(options);
  const log = openClaimLog(db, options);
  const commit = <T>(work: () => T): T => db.transaction(work).immediate();
  const duplicates = duplicateTable(db);
  return {
    ...reads,
    /** Takes rows in; each is accepted, already there, or in conflict with a row of the same key and other content. */
    accept: (rows: readonly NewRow[], now: number): Acceptance[] =>
      commit(() => {
        const taken = writes.accept(rows, iso(now));
        log.checkAccepted(rows, taken, now);
        return taken;
      }),
    /** One transition of the state machine; null when the row is in no state that it starts from, or its post confirms another row. */
    move: (id: number, transition: Transition, change: RowChange): OutboxRow | null =>
      commit(() => writes.move(id, transition, change)),
    /** The row goes out: state, attempt, deadline and baseline stand on disk before this returns. */
    claim(request: Claim): OutboxRow | Refusal {
      const claimed = commit(() => {
        if (!log.isNewest()) return { refused: 'gone' as const };
        const row = writes.claim(request);
        return 'refused' in row ? row : { row, head: log.advance() };
      });
      if ('refused' in claimed) return claimed;
      const { row, head } = claimed;
      try {
        log.record(head, row.source_key);
      } catch (error) {
        // Not recorded means not sent: the row goes back, as if it had not been claimed.
        commit(() => writes.endAttempt(notSent(row, request.now, messageOf(error))));
        throw error;
      }
      return row;
    },
    refusal: writes.refusal,
    /** Other words for a row that a person mends; null where it is in no state for it. What it said before is kept. */
    edit: (edit: Edit): OutboxRow | null => commit(() => writes.edit(edit)),
    /** Several of them in one transaction; returns the ids of those that were in a state for it. */
    editAll: (edits: readonly Edit[]): number[] =>
      commit(() => edits.flatMap((edit) => writes.edit(edit)?.id ?? [])),
    /** A pace of its own for an import, before its first row is accepted. */
    paceBatch: (batch: string, perMinute: number, now: number): void =>
      commit(() => writes.batches.pace(batch, perMinute, now)),
    /** No row of the batch is claimed any more until it is resumed; returns how many rows that holds. */
    pauseBatch: (batch: string, now: number): number => commit(() => writes.batches.pause(batch, now)),
    resumeBatch: (batch: string, now: number): number => commit(() => writes.batches.resume(batch, now)),
    /** No row of the batch is claimed any more, for good; each of them is still to be moved to `cancelled`. */
    stopBatch: (batch: string, now: number): void => commit(() => writes.batches.stop(batch, now)),
    reopenBatch: (batch: string, now: number): void => commit(() => writes.batches.reopen(batch, now)),
    /** Likely duplicates of a file that is not imported yet, for a person who decides about them. */
    duplicates: {
      ...duplicates,
      keep: (...kept: Parameters<typeof duplicates.keep>): void => commit(() => duplicates.keep(...kept)),
    },
    /** Several rows along one transition, in one transaction; returns how many moved. */
    moveAll: (ids: readonly number[], transition: Transition, change: RowChange): number =>
      commit(() => ids.filter((id) => writes.move(id, transition, change) !== null).length),
    /** Frees rows of slow imports whose turn has come; when the next one's comes, or null. */
    releasePaced(now: number): number | null {
      const { nextRelease, release } = writes.batches;
      if ((nextRelease() ?? Number.POSITIVE_INFINITY) <= now) commit(() => release(now));
      return nextRelease();
    },
    /** The end of an attempt and where its row goes from there, together; null, and nothing written, where `move` would refuse. */
    endAttempt: (end: AttemptEnd): OutboxRow | null => commit(() => writes.endAttempt(end)),
    checked: (check: SweepCheck): void => commit(() => writes.checked(check)),
    setPaused: (reason: string | null): void => commit(() => writes.setPaused(reason)),
    /** Changes whenever another connection wrote to the file. */
    dataVersion: () => db.pragma('data_version', { simple: true }) as number,
    /** Keeps every other process from sending; the operating system releases it if we die. */
    lockSender: sender.take,
    /** The same for a process that stays: where another one sends, it stands first in line until it gets the lock or is closed. */
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

function notSent({ id, attempts }: OutboxRow, now: number, reason: string): AttemptEnd {
  const error = `the claim could not be recorded: ${reason}`;
  const attempt = { id, n: attempts, outcome: 'not-sent', httpStatus: null, error };
  return { ...attempt, isVoid: true, transition: { from: ['sending'], to: 'ready' }, change: { now, error } };
}

/** Every commit over this connection is flushed before it returns. */
export function openDurably(options: OpenOptions): Db {
  const db = openMirror(options);
  db.pragma('synchronous = FULL');
  // Beside the mirror's own connection; an import of a million rows fills whatever it is given, and is no faster for it.
  db.pragma('cache_size = -12000');
  return db;
}
