import { iso } from '../../base/clock.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { dropMeta, readMeta, scalar, writeMeta } from '../../db/sql.ts';
import { changeLog } from '../../mirror/log/change-log.ts';
import { next, TRANSITIONS } from '../decide/states.ts';
import {
  type AttemptEnd,
  type Claim,
  type Edit,
  type OutboxRow,
  type OutboxState,
  type PostsOfRow,
  type Refusal,
  type RowChange,
  type StoredRow,
  type SweepCheck,
  type Transition,
  toRow,
} from '../decide/types.ts';
import { acceptor, kindOf } from './accept.ts';
import { batchWriter } from './batches.ts';
import { paceOf } from './pace.ts';
import type { OutboxReader } from './reads.ts';
import { isOfBoard, refusedBoards } from './refused.ts';

const SETTLED: readonly OutboxState[] = ['confirmed', 'rejected', 'cancelled'];

/** The writing half of the outbox: each function is the inside of one transaction. */
export function outboxWriter(db: Db, options: OpenOptions, { knowledge }: Pick<OutboxReader, 'knowledge'>) {
  const changes = changeLog(db);
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const update = db.prepare(`
    UPDATE outbox SET state = $state, changed_at = $at, not_before = $notBefore, post_id = $postId, url = $url, last_error = $error, matched = $matched,
                      not_found = $notFound, candidates = $candidates, was_ambiguous = $wasAmbiguous, checks_left = $checksLeft,
                      baseline = $baseline, on_hold = $onHold, duplicate_of = nullif(duplicate_of, $postId)
     WHERE id = $id`);
  const boundTo = scalar(db)<[number], number>('SELECT id FROM outbox WHERE post_id = ?');
  const twinUnderWay = scalar(db)<[string, number], number>(`
    SELECT EXISTS (SELECT 1 FROM outbox WHERE content_hash = ? AND id <> ? AND state IN ('sending', 'ambiguous'))`);
  // As long as every earlier attempt certainly came to nothing, this one is the first that can have left a post: what stood
  // before it is not ours.
  const send = db.prepare(`
    UPDATE outbox SET state = $state, attempts = attempts + 1, changed_at = $at, not_before = NULL,
                      first_sent_at = iif(was_ambiguous, first_sent_at, $at),
                      known_max_id = iif(was_ambiguous, known_max_id, $knownMaxId), mark = $mark
     WHERE id = $id`);
  const begin = db.prepare(`
    INSERT INTO outbox_attempts (outbox_id, n, started_at, deadline_at) VALUES (?, ?, ?, ?)`);
  const finish = db.prepare(`
    UPDATE outbox_attempts SET ended_at = $at, outcome = $outcome, http_status = $httpStatus, post_id = $postId, error = $error,
                               after_run = iif(EXISTS (SELECT 1 FROM posts WHERE id = $postId), NULL,
                                               (SELECT coalesce(max(id), 0) FROM sync_runs WHERE resource = 'posts'))
     WHERE outbox_id = $id AND n = $n`);
  const takeBack = db.prepare('UPDATE outbox SET attempts = attempts - 1 WHERE id = ?');
  const forget = db.prepare('DELETE FROM outbox_attempts WHERE outbox_id = ? AND n = ?');
  const readPause = scalar(db)<[], string>("SELECT value FROM meta WHERE key = 'push_paused'");
  const showSecond = db.prepare(`
    UPDATE outbox SET duplicate_of = iif(state = 'confirmed', coalesce(duplicate_of, $second), duplicate_of), candidates = $candidates,
                      changed_at = $at WHERE id = $id`);
  const showCandidates = db.prepare(`
    UPDATE outbox SET candidates = $candidates, last_error = $error, changed_at = $at WHERE id = $id`);
  const countCheck = db.prepare(`
    UPDATE outbox SET checks_left = checks_left - 1
     WHERE checks_left > 0 AND state NOT IN ('ready', 'sending', 'ambiguous') AND (changed_at < $started OR changed_at > $at)`);
  const heldUpBy = scalar(db)<[number], number>(`
    SELECT id FROM outbox o WHERE state = 'uncertain' AND EXISTS (SELECT 1 FROM json_each(o.candidates) WHERE value = ?)`);

  // A post that a person named as the outcome of one row is not a second post of another row.
  const takeBackSecond = scalar(db)<{ id: number; post: number; at: string }, number>(`
    UPDATE outbox SET duplicate_of = NULL, changed_at = $at WHERE duplicate_of = $post AND id <> $id RETURNING id`);

  const batches = batchWriter(db, changes);
  const boards = refusedBoards(db);
  const pace = paceOf(db);
  const sentBoard = db.prepare(`
    INSERT INTO sent_boards (slug, confirmed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`);
  const noteEdit = db.prepare(`
    INSERT INTO outbox_edits (outbox_id, n, edited_at, before)
    SELECT $id, count(*) + 1, $at, $before FROM outbox_edits WHERE outbox_id = $id`);
  const mend = db.prepare(`
    UPDATE outbox SET kind = $kind, board = $board, title = $title, content = $content, email = $email, full_name = $full_name,
                      content_hash = $content_hash, changed_at = $at WHERE id = $id`);

  const edit = ({ id, from, post, content_hash, now }: Edit): OutboxRow | null => {
    const old = byId.get(id);
    if (!old || !from.includes(old.state) || old.erased_at !== null) return null;
    const { board, title, content, email, full_name } = old;
    noteEdit.run({ id, at: iso(now), before: JSON.stringify({ board, title, content, email, full_name }) });
    mend.run({ id, kind: kindOf(post), ...post, content_hash, at: iso(now) });
    changes.add('outbox.updated', iso(now), id);
    return toRow(byId.get(id) ?? old);
  };

  const move = (id: number, transition: Transition, change: RowChange): OutboxRow | null => {
    const old = byId.get(id);
    const wanted = old && next(old.state, transition);
    if (!old || !wanted) return null;
    if (wanted === 'ready' && old.erased_at !== null) return null;
    if (change.postId !== undefined && (boundTo.get(change.postId) ?? id) !== id) return null;
    const { isHeld, isPaced, isCancelled } = batches.holds(old.batch);
    const comesBack = old.state === 'sending' || old.state === 'ambiguous';
    const to = wanted === 'ready' && isCancelled ? (next(old.state, TRANSITIONS.stop) ?? wanted) : wanted;
    // A person may send all rows of a slow import again at once, and they keep its pace; one that comes back by itself has had its turn.
    const isSentAgain = !comesBack && old.state !== 'ready';
    const waitsForTurn = isPaced && !isCancelled && isSentAgain;
    const onHold = to === 'ready' && (isHeld || waitsForTurn) ? 1 : 0;
    const text = { ...merged(old, change, options.upstream), ...dismissed(old, transition) };
    update.run({ id, state: to, onHold, ...text, postId: to === 'confirmed' ? text.postId : null });
    const at = iso(change.now);
    if (to === 'confirmed') {
      sentBoard.run(old.board, at);
      boards.drop(old);
    }
    changes.outbox(at, id, old.state, to);
    if (to === 'confirmed' && change.postId !== undefined) freeOthers(id, change.postId, change.now);
    const row = byId.get(id);
    return row ? toRow(row) : null;
  };
  /** The post is this row's: it is no other's second one, and rows that waited for a person because of it are decided again. */
  const freeOthers = (id: number, post: number, now: number): void => {
    for (const other of takeBackSecond.all({ id, post, at: iso(now) }))
      changes.add('outbox.updated', iso(now), other);
    for (const other of heldUpBy.all(post))
      if (other !== id)
        move(other, TRANSITIONS.reopen, {
          now,
          notBefore: now,
          candidates: [],
          error: `post ${post} is row ${id}'s: decided again`,
        });
  };
  const refused = (old: StoredRow | undefined, from: readonly string[], at: string): Refusal | null => {
    if (!old || !from.includes(old.state)) return { refused: 'gone' };
    // A change that lies in the future was made by a clock that was ahead: the time it set counts as come.
    if (old.not_before !== null && old.not_before > at && old.changed_at <= at) return { refused: 'not due' };
    if (old.on_hold === 1) return { refused: 'on hold' };
    if (readPause.get() !== undefined) return { refused: 'paused' };
    if (boards.closed(Date.parse(at)).some((board) => isOfBoard(old, board))) return { refused: 'not due' };
    return twinUnderWay.get(old.content_hash, old.id) ? { refused: 'same content under way' } : null;
  };

  return {
    /** Takes none where one of them is for a person who was erased. */
    accept: acceptor(db, options, { changes, batches, move, edit }),
    move,
    batches,
    /** Replaces the words of a row. Null if the state of the row does not allow it. */
    edit,
    /** Why `claim` would be refused now; null when it would not. */
    refusal: (id: number, now: number): Refusal | null => refused(byId.get(id), ['ready'], iso(now)),
    claim(request: Claim): OutboxRow | Refusal {
      const { id, transition, now, deadline, listedMaxId, mark = null } = request;
      const { perMinute = Number.POSITIVE_INFINITY } = request;
      const old = byId.get(id);
      const at = iso(now);
      const refusal = refused(old, transition.from, at);
      if (refusal || !old) return refusal ?? { refused: 'gone' };
      if (pace.nextSendAt(perMinute, now) !== null) return { refused: 'rate limit' };
      pace.noteSend(perMinute, now);
      send.run({ id, state: transition.to, at, knownMaxId: highest(listedMaxId, knowledge().maxId), mark });
      begin.run(id, old.attempts + 1, at, iso(deadline));
      changes.outbox(at, id, old.state, transition.to);
      return toRow(byId.get(id) ?? old);
    },
    endAttempt(end: AttemptEnd): OutboxRow | null {
      const { id, n, outcome, httpStatus, error, named, isVoid, transition, change } = end;
      const row = move(id, transition, change);
      if (row && isVoid) {
        takeBack.run(id);
        forget.run(id, n);
      } else if (row) {
        const postId = change.postId ?? named ?? null;
        finish.run({ at: iso(change.now), outcome, httpStatus, postId, error, id, n });
      }
      return row;
    },
    /** Shows second posts on a sent row; false where it shows all of them already. */
    noteSeconds({ id, posts, now }: PostsOfRow): boolean {
      const old = byId.get(id);
      const known = old ? toRow(old).candidates : [];
      const fresh = posts.filter(
        (post) => post !== old?.duplicate_of && post !== old?.post_id && !known.includes(post),
      );
      // A row on its way has no post yet that these could be beside.
      if (!old || !SETTLED.includes(old.state) || fresh.length === 0) return false;
      showSecond.run({
        id,
        at: iso(now),
        second: fresh[0] ?? null,
        candidates: JSON.stringify([...known, ...fresh]),
      });
      changes.add('outbox.updated', iso(now), id);
      return true;
    },
    /** Shows what could be the post of a row that waits for a person; false where it shows all of them already. */
    noteCandidates({ id, posts, now, error }: PostsOfRow & { error: string }): boolean {
      const old = byId.get(id);
      const known = old ? toRow(old).candidates : [];
      if (!old || posts.every((post) => known.includes(post))) return false;
      showCandidates.run({
        id,
        at: iso(now),
        error,
        candidates: JSON.stringify([...new Set([...posts, ...toRow(old).baseline])]),
      });
      changes.add('outbox.updated', iso(now), id);
      return true;
    },
    checked({ sweepStartedAt, now, until }: SweepCheck): void {
      countCheck.run({ started: sweepStartedAt, at: iso(now) });
      writeMeta(db, 'posts_checked_until', iso(until));
    },
    noteMark(board: string, is: 'kept' | 'lost'): void {
      const marks = JSON.parse(readMeta(db, 'push_marks') ?? '{}') as Record<string, string>;
      writeMeta(db, 'push_marks', JSON.stringify({ ...marks, [board]: is }));
    },
    setPaused: (reason: string | null): void =>
      reason === null ? dropMeta(db, 'push_paused') : writeMeta(db, 'push_paused', reason),
    refuseBoard: boards.put,
  };
}

/** A person who has an uncertain row sent again turns down its candidates. They join the baseline. */
function dismissed(old: StoredRow, transition: Transition): { baseline: string } {
  if (old.state !== 'uncertain' || transition.to !== 'ready') return { baseline: old.baseline };
  const { baseline, candidates } = toRow(old);
  return { baseline: JSON.stringify([...new Set([...baseline, ...candidates])]) };
}

function highest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

/** Some lists have an address as a path only, and the answer to a create the whole: a row has the whole one either way. */
function resolved(url: string, upstream: string): string {
  return URL.canParse(url) ? url : (URL.parse(url, upstream)?.href ?? url);
}

/** Columns that a change leaves out keep their values. */
function merged(old: StoredRow, change: RowChange, upstream: string) {
  const { notBefore, postId, url, matched, error, notFound, candidates, wasAmbiguous } = change;
  const { checksLeft, checksIfUnclear } = change;
  return {
    at: iso(change.now),
    notBefore: notBefore === undefined || notBefore === null ? null : iso(notBefore),
    postId: postId ?? old.post_id,
    url: url === undefined ? old.url : url && resolved(url, upstream),
    matched: matched === undefined ? old.matched : matched,
    error: error === undefined ? old.last_error : error,
    notFound: notFound ?? old.not_found,
    // The candidates include the baseline: a post that was turned down may still be the row's.
    candidates:
      candidates === undefined
        ? old.candidates
        : JSON.stringify([...new Set([...candidates, ...toRow(old).baseline])]),
    wasAmbiguous: wasAmbiguous ? 1 : old.was_ambiguous,
    checksLeft: checksLeft ?? (old.was_ambiguous ? checksIfUnclear : undefined) ?? old.checks_left,
  };
}
