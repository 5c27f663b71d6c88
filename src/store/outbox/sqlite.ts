import { messageOf } from '../../base/errors.ts';
import type { Db, OpenOptions } from '../db.ts';
import type { SqliteStoreOptions } from '../mirror/sqlite.ts';
import { openClaimLog } from '../older-copy.ts';
import { openMirror } from '../open.ts';
import { outboxReader } from './reads.ts';
import type { AttemptEnd, Claim, OutboxRow, OutboxStore, Refusal } from './seam.ts';
import { senderLock } from './sender-lock.ts';
import { outboxWriter } from './writes.ts';

/**
 * The outbox in the mirror's file, over a connection of its own: a commit here is a promise to somebody, so it has reached the disk
 * before it returns, while a lost page of the mirror is only read again.
 */
export function openSqliteOutbox(options: SqliteStoreOptions): OutboxStore {
  const db = openDurably(options);
  const reads = outboxReader(db);
  const writes = outboxWriter(db, options, reads);
  const sender = senderLock(options);
  const log = openClaimLog(db, options);
  const atOnce = <T>(work: () => T): T => db.transaction(work).immediate();
  const durably = async <T>(work: () => T): Promise<T> => atOnce(work);
  const claim = (request: Claim): OutboxRow | Refusal => {
    const claimed = atOnce(() => {
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
      atOnce(() => writes.endAttempt(notSent(row, request.now, messageOf(error))));
      throw error;
    }
    return row;
  };
  return {
    accept: async (rows, now) =>
      await durably(() => {
        const taken = writes.accept(rows, new Date(now).toISOString());
        log.checkAccepted(rows, taken, now);
        return taken;
      }),
    move: async (id, transition, change) => await durably(() => writes.move(id, transition, change)),
    claim: async (request) => claim(request),
    endAttempt: async (end) => await durably(() => writes.endAttempt(end)),
    refusal: async (id, now) => writes.refusal(id, now),
    checked: async (check) => await durably(() => writes.checked(check)),
    setPaused: async (reason) => await durably(() => writes.setPaused(reason)),
    orphans: async () => reads.orphans(),
    isOver: async (batch) => reads.isOver(batch),
    next: async (now, batch) => reads.next(now, batch),
    due: async (now, limit) => reads.due(now, limit),
    find: async (id) => reads.find(id),
    list: async (filter) => reads.list(filter),
    attempts: async (id) => reads.attempts(id),
    counts: async (batch) => reads.counts(batch),
    claimants: async () => reads.claimants(),
    postsSince: async (window) => reads.postsSince(window),
    knownPosts: async (ids) => reads.knownPosts(ids),
    sentAuthors: async () => reads.sentAuthors(),
    boundPosts: async (ids) => reads.boundPosts(ids),
    confirmedHashes: async (hashes) => reads.confirmedHashes(hashes),
    isShownElsewhere: async (post, row) => reads.isShownElsewhere(post, row),
    hasSuccessor: async (row) => reads.hasSuccessor(row),
    worstListDelay: async () => reads.worstListDelay(),
    knowledge: async () => reads.knowledge(),
    toCheck: async () => reads.toCheck(),
    paused: async () => reads.paused(),
    dataVersion: async () => db.pragma('data_version', { simple: true }) as number,
    lockSender: async () => sender.take(),
    lockSenderFirst: async () => sender.takeFirst(),
    isSenderWanted: async () => sender.isWanted(),
    async close() {
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
