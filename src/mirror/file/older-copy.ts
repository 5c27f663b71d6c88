import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { iso } from '../../base/clock.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { closeAfter, dropMeta, immediate, readMeta, scalar, writeMeta } from '../../db/sql.ts';
import { TRANSITIONS, whereAndTo } from '../../outbox/decide/states.ts';
import type { Acceptance, NewRow } from '../../outbox/decide/types.ts';
import { ENDED, type OlderCopy } from '../decide/types.ts';
import { type Erasures, openRecoveryLog, type RecoveryLog, readRecoveryLog } from '../log/recovery-log.ts';
import { keyCheckOf } from '../suppression/list.ts';
import { missingErasures, reapplyErasures } from '../suppression/reapply.ts';

/**
 * How a mirror knows that it is an older copy. Every claim gives the mirror a new head, first in its file and then, before the first
 * byte leaves, in the recovery log of the data folder. A file whose head is the log's, or whose head came directly after the log's
 * (the process died between the two), is the newest; any other was put back, and rows of it may have been sent since. Copies that this
 * program makes carry a mark besides, for a machine that has no log.
 *
 * Nothing else is logged: a page, an accepted row or a decision that is lost with an older copy costs no second post.
 */
type Standing = 'newest' | 'new' | 'older';

interface Facts {
  mirror_id?: string;
  claim_head?: string;
  claim_head_before?: string;
  copied_at?: string;
}

function factsOf(db: Db): Facts {
  const rows = db.prepare<[], [string, string]>(`
    SELECT key, value FROM meta WHERE key IN ('mirror_id', 'claim_head', 'claim_head_before', 'copied_at')`);
  return Object.fromEntries(rows.raw().all());
}

function headIn(log: RecoveryLog | null, { mirror_id }: Facts): string | null {
  return mirror_id === undefined ? null : (log?.head(mirror_id) ?? null);
}

function standingOf({ copied_at, claim_head, claim_head_before }: Facts, logged: string | null): Standing {
  if (copied_at !== undefined) return 'older';
  if (claim_head === undefined) return logged === null ? 'new' : 'older';
  return logged !== null && [claim_head, claim_head_before].includes(logged) ? 'newest' : 'older';
}

/** What is kept about an older copy in the mirror itself. */
interface Note {
  /** What was sent or erased after this moment is not in the copy; `UNKNOWN_MOMENT` where the file does not tell. */
  since: string;
  noticedAt: string;
  /** Until then an attempt from before the restore may still turn up in the list. */
  settledAt: string;
  /** Whether the data folder knows what was claimed and erased since. */
  isCovered: boolean;
}

/** Brings the mirror up to what the data folder knows; where it already is, that takes three short questions and no lock. */
export function bringUpToDate(
  db: Db,
  log: RecoveryLog,
  options: OpenOptions,
): { isOlder: boolean; erased: boolean } {
  const facts = factsOf(db);
  if (
    standingOf(facts, headIn(log, facts)) === 'newest' &&
    facts.claim_head === headIn(log, facts) &&
    missingErasures(db, log.erasures()) === null
  )
    return { isOlder: false, erased: false };
  return immediate(db, catchUp)(db, log, options);
}

/** Inside a transaction that writes, so that no sender claims a row meanwhile. */
function catchUp(db: Db, log: RecoveryLog, options: OpenOptions): { isOlder: boolean; erased: boolean } {
  const now = new Date().toISOString();
  const facts = factsOf(db);
  const logged = headIn(log, facts);
  const standing = standingOf(facts, logged);
  if (standing === 'older') takeOver(db, options, { now, since: momentOf(db, facts, now), logged });
  if (standing === 'newest' && facts.mirror_id !== undefined && facts.claim_head !== undefined)
    log.setHead(facts.mirror_id, facts.claim_head);
  if (standing !== 'newest') followLog(db, log, facts.mirror_id ?? randomUUID(), logged);
  const missing = missingErasures(db, log.erasures());
  if (missing) reapply(db, options, missing, now);
  if (standing !== 'newest') logErasures(db, log);
  return { isOlder: standing === 'older', erased: missing !== null };
}

/** From here on this file is the newest as far as the log knows, until another copy of it claims a row. */
function followLog(db: Db, log: RecoveryLog, mirrorId: string, logged: string | null): void {
  const head = logged ?? newHead();
  writeMeta(db, 'mirror_id', mirrorId);
  writeMeta(db, 'claim_head', head);
  dropMeta(db, 'claim_head_before', 'copied_at');
  if (logged === null) log.setHead(mirrorId, head);
}

function takeOver(
  db: Db,
  { settleMs = SETTLE_MS }: OpenOptions,
  { now, since, logged }: { now: string; since: string; logged: string | null },
): void {
  const before = noteOf(db);
  const note: Note = {
    since: before && before.since < since && !isSettled(db, before) ? before.since : since,
    noticedAt: now,
    settledAt: iso(Date.parse(now) + settleMs),
    isCovered: logged !== null,
  };
  writeMeta(db, 'older_copy', JSON.stringify(note));
  // Restoring a copy discards the evidence for pending deletions, and what a person accepted. Later sweeps collect both again.
  db.exec("UPDATE absences SET misses = '{}', score = 0, sweeps = 0, held = 0, accepted = 0");
  markRows(db, note);
}

const SETTLE_MS = 60_000;
const recheck = whereAndTo(TRANSITIONS.recheck);
const MAYBE_SENT = 'this mirror is an older copy: it may have been sent since';

/**
 * Whatever could still be sent may have been sent since the copy: it is looked for first. A row in `sending` is left to the next
 * sender, which finds it as an orphan; one that a person may have sent again is looked for if a person does so again. A row that was
 * looked for after an earlier restore, and never sent since, has not been missed by any attempt yet.
 */
function markRows(db: Db, { since, noticedAt, settledAt }: Note): void {
  const window = `was_ambiguous = 1, first_sent_at = iif(was_ambiguous, min(first_sent_at, $since), $since),
                  known_max_id = iif(was_ambiguous, known_max_id, (SELECT max(id) FROM posts))`;
  const unsent = db.prepare(`
    UPDATE outbox SET ${recheck.set}, on_hold = 0, ${window}, not_before = max(coalesce(not_before, ''), $settledAt),
                      not_found = iif(attempts = 0, 0, not_found), last_error = $why, changed_at = $noticedAt
     WHERE ${recheck.where} AND erased_at IS NULL`);
  const decided = db.prepare(`
    UPDATE outbox SET ${window} WHERE state IN ('proposed', 'rejected', 'uncertain', 'cancelled') AND erased_at IS NULL`);
  const tell = db.prepare(`
    INSERT INTO changes (at, type, id) SELECT $noticedAt, 'outbox.updated', id FROM outbox
     WHERE state IN ('proposed', 'ambiguous', 'rejected', 'uncertain', 'cancelled') AND erased_at IS NULL`);
  unsent.run({ since, noticedAt, settledAt, why: MAYBE_SENT });
  decided.run({ since });
  tell.run({ noticedAt });
}

/** The moment of a copy that tells none: before everything that can have been sent. */
export const UNKNOWN_MOMENT = iso(0);

/** The latest moment of which the file knows. A time in the future says nothing: then everything upstream may be newer. */
function momentOf(db: Db, { copied_at, claim_head }: Facts, now: string): string {
  const lastRun = scalar(db)<[], string>('SELECT started_at FROM sync_runs ORDER BY id DESC LIMIT 1');
  const known = [timeOf(claim_head), lastRun.get() ?? ''].filter((time) => time <= now);
  const moment = copied_at ?? known.reduce(later, '');
  return moment === '' || moment > now ? UNKNOWN_MOMENT : moment;
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

/** A head is a time and a random part: the time tells how far a file had come that carries no mark. */
function newHead(): string {
  return `${new Date().toISOString()} ${randomUUID()}`;
}

function timeOf(head: string | undefined): string {
  return head?.split(' ')[0] ?? '';
}

function reapply(db: Db, options: OpenOptions, missing: Erasures, now: string): void {
  reapplyErasures(db, options, missing, now);
  const before = Number(readMeta(db, 'erasures_reapplied') ?? 0);
  writeMeta(db, 'erasures_reapplied', String(before + missing.hashes.length));
}

/** A data folder that did not know this mirror learns whom it has erased; hashes made under another key are of no use to it. */
function logErasures(db: Db, log: RecoveryLog): void {
  const keyCheck = keyCheckOf(db);
  const isOurs = [null, keyCheck].includes(log.erasures().keyCheck);
  log.addErasures({
    keyCheck: isOurs ? keyCheck : null,
    hashes: isOurs
      ? db.prepare<[], Erasures['hashes'][number]>('SELECT hash, since FROM suppressions').all()
      : [],
    users: db.prepare<[], Erasures['users'][number]>('SELECT user_id, hash FROM suppressed_users').all(),
  });
}

/** Before a mirror is read: only who was erased since. Its rows are not touched, so looking at a copy changes nothing else. */
export function applyMissingErasures(db: Db, options: OpenOptions): void {
  const log = readRecoveryLog(options);
  if (!log) return;
  const apply = immediate(db, ({ erasures }: RecoveryLog) => {
    const missing = missingErasures(db, erasures());
    if (missing) reapply(db, options, missing, new Date().toISOString());
  });
  closeAfter(log, apply);
}

export function lacksErasures(db: Db, options: OpenOptions): boolean {
  const log = readRecoveryLog(options);
  return log !== null && closeAfter(log, ({ erasures }) => missingErasures(db, erasures()) !== null);
}

/** Marks a copy that was just made, as what it is: what the mirror does from `at` on is not in it. */
export function markCopy(path: string, at: string): void {
  closeAfter(new Database(path), (db) => writeMeta(db, 'copied_at', at));
}

/** Marks a file that is put back as a copy. Returns the moment of the copy; null where the file does not say. */
export function markPutBack(db: Db): string | null {
  const at = momentOf(db, factsOf(db), new Date().toISOString());
  writeMeta(db, 'copied_at', at);
  return knownOf(at);
}

/** What the outbox asks and tells, for as long as it is open. */
export function openClaimLog(db: Db, options: OpenOptions) {
  const log = openRecoveryLog(options);
  const value = scalar(db)<[string], string>('SELECT value FROM meta WHERE key = ?');
  const mirrorId = value.get('mirror_id') ?? '';
  const write = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  return {
    /** Inside the transaction of a claim, before it: false when another copy has sent meanwhile, and this one is an older copy now. */
    isNewest(): boolean {
      if (value.get('claim_head') === log.head(mirrorId)) return true;
      return !bringUpToDate(db, log, options).isOlder;
    },
    /** Inside the same transaction: the claim's head, to be recorded once the claim stands on disk. */
    advance(): string {
      const head = newHead();
      write.run('claim_head_before', value.get('claim_head'));
      write.run('claim_head', head);
      return head;
    },
    record: (head: string, row: Parameters<typeof log.wasClaimed>[0]): void =>
      void log.recordClaim({ mirrorId, head, row }),
    /** Inside the transaction that took rows in: what an earlier life of this mirror may have sent is looked for before it is sent. */
    checkAccepted: acceptedCheck(db, log),
    close: (): void => void log.close(),
  };
}

/** How long a machine without the log checks every row with a key: what was lost with the log is imported or called again within that time. */
const CHECK_KEYS_MS = 30 * 86_400_000;

function acceptedCheck(db: Db, log: RecoveryLog) {
  const mark = db.prepare(`
    UPDATE outbox SET ${recheck.set}, on_hold = 0, was_ambiguous = 1, first_sent_at = ?, not_before = ?, last_error = ?
     WHERE id = ? AND ${recheck.where}`);
  return (rows: readonly NewRow[], taken: readonly Acceptance[], now: number): void => {
    const note = noteOf(db);
    if (!note) return;
    const { since, settledAt } = note;
    const mayBeSent = note.isCovered ? log.wasClaimed : unknownKeys(note, now);
    const notBefore = later(iso(now), settledAt);
    for (const [i, row] of rows.entries()) {
      const acceptance = taken[i];
      if (acceptance?.outcome === 'accepted' && mayBeSent(row))
        mark.run(since, notBefore, MAYBE_SENT, acceptance.id);
    }
  };
}

/** People do not repeat a `create`. They do import a file again, and programs repeat a call under its key, long after a first sweep. */
function unknownKeys({ noticedAt }: Note, now: number): (row: NewRow) => boolean {
  const isOver = now > Date.parse(noticedAt) + CHECK_KEYS_MS;
  return ({ source_key }) => !isOver && !source_key.startsWith('create:');
}

/** Null for the newest state of a mirror, and for an older copy once all of it was looked for and a whole sweep has been read. */
export function olderCopyOf(db: Db, options: OpenOptions): OlderCopy | null {
  const log = readRecoveryLog(options);
  try {
    const [facts, logged] = steady(db, log);
    const count = (which: string, ...values: string[]): number =>
      scalar(db)<string[], number>(`SELECT count(*) FROM outbox WHERE ${which}`).get(...values) ?? 0;
    const erasures = Number(readMeta(db, 'erasures_reapplied') ?? 0);
    if (standingOf(facts, logged) === 'older') {
      const since = momentOf(db, facts, new Date().toISOString());
      const checking = count("state IN ('ready', 'sending', 'ambiguous')");
      return { since: knownOf(since), noticedAt: null, checking, erasures, isCovered: logged !== null };
    }
    const note = noteOf(db);
    if (!note || isSettled(db, note)) return null;
    const { since, noticedAt, isCovered } = note;
    const checking = count("state = 'ambiguous' AND first_sent_at <= ?", since);
    return { since: knownOf(since), noticedAt, checking, erasures, isCovered };
  } finally {
    log?.close();
  }
}

function knownOf(since: string): string | null {
  return since === UNKNOWN_MOMENT ? null : since;
}

/** File and log are read one after the other, and a sender may claim rows meanwhile: then both are read again. */
function steady(db: Db, log: RecoveryLog | null): [Facts, string | null] {
  for (let left = 10; ; left--) {
    const facts = factsOf(db);
    const logged = headIn(log, facts);
    if (left === 0 || standingOf(facts, logged) !== 'older' || facts.copied_at !== undefined)
      return [facts, logged];
  }
}

function isSettled(db: Db, { since, noticedAt }: Note): boolean {
  const swept = scalar(db)<[string], number>(`
    SELECT 1 FROM sync_runs WHERE resource = 'posts' AND mode = 'sweep' AND ${ENDED} AND started_at > ? LIMIT 1`);
  const checking = scalar(db)<[string], number>(`
    SELECT 1 FROM outbox WHERE state = 'ambiguous' AND first_sent_at <= ? LIMIT 1`);
  return swept.get(noticedAt) === 1 && checking.get(since) === undefined;
}

function noteOf(db: Db): Note | null {
  const text = readMeta(db, 'older_copy');
  return text === undefined ? null : (JSON.parse(text) as Note);
}
