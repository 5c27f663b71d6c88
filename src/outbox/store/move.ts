import { iso } from '../../base/clock.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import type { ChangeLog } from '../../mirror/log/change-log.ts';
import { next, type OutboxState, SWEEP_CHECKS, TRANSITIONS } from '../decide/states.ts';
import { type OutboxRow, type RowChange, type StoredRow, type Transition, toRow } from '../decide/types.ts';
import type { batchWriter } from './batches.ts';
import type { refusedBoards } from './refused.ts';

export interface MoveDeps {
  changes: ChangeLog;
  batches: ReturnType<typeof batchWriter>;
  boards: ReturnType<typeof refusedBoards>;
}

export type Move = (id: number, transition: Transition, change: RowChange) => OutboxRow | null;

/** A row that was once unclear and comes to rest may have left a second post. */
const CHECKED: readonly OutboxState[] = ['confirmed', 'rejected', 'uncertain', 'cancelled'];

/** The only function that changes the state of a row. */
export function rowMover(db: Db, options: OpenOptions, { changes, batches, boards }: MoveDeps): Move {
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const update = db.prepare(`
    UPDATE outbox SET state = $state, changed_at = $at, not_before = $notBefore, post_id = $postId, url = $url, last_error = $error, matched = $matched,
                      not_found = $notFound, candidates = $candidates, was_ambiguous = $wasAmbiguous, checks_left = $checksLeft,
                      baseline = $baseline, on_hold = $onHold, duplicate_of = nullif(duplicate_of, $postId)
     WHERE id = $id`);
  const boundTo = scalar(db)<[number], number>('SELECT id FROM outbox WHERE post_id = ?');
  const sentBoard = db.prepare(`
    INSERT INTO sent_boards (slug, confirmed_at) VALUES (?, ?) ON CONFLICT DO NOTHING`);
  const move: Move = (id, transition, change) => {
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
    const isChecked = text.wasAmbiguous === 1 && CHECKED.includes(to);
    const checksLeft = isChecked ? SWEEP_CHECKS : old.checks_left;
    update.run({
      id,
      state: to,
      onHold,
      ...text,
      checksLeft,
      postId: to === 'confirmed' ? text.postId : null,
    });
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
  const freeOthers = otherRows(db, changes, move);
  return move;
}

/** A post that confirms one row is not the second post of another row. */
function otherRows(db: Db, changes: ChangeLog, move: Move) {
  const reopen = reopener(db, move);
  // A post that a person named as the outcome of one row is not a second post of another row.
  const takeBackSecond = scalar(db)<{ id: number; post: number; at: string }, number>(`
    UPDATE outbox SET duplicate_of = NULL, changed_at = $at WHERE duplicate_of = $post AND id <> $id RETURNING id`);
  return (id: number, post: number, now: number): void => {
    for (const other of takeBackSecond.all({ id, post, at: iso(now) }))
      changes.add('outbox.updated', iso(now), other);
    reopen(id, post, now);
  };
}

/** Decides again the rows that wait for a person because of a post, once this post belongs to another row. */
export function reopener(db: Db, move: Move) {
  const heldUpBy = scalar(db)<[number], number>(`
    SELECT id FROM outbox o WHERE state = 'uncertain' AND EXISTS (SELECT 1 FROM json_each(o.candidates) WHERE value = ?)`);
  return (id: number, post: number, now: number): void => {
    const error = `post ${post} is row ${id}'s: decided again`;
    const change = { now, notBefore: now, candidates: [], error };
    for (const other of heldUpBy.all(post)) if (other !== id) move(other, TRANSITIONS.reopen, change);
  };
}

/** A person who has an uncertain row sent again turns down its candidates. They join the baseline. */
function dismissed(old: StoredRow, transition: Transition): { baseline: string } {
  if (old.state !== 'uncertain' || transition.to !== 'ready') return { baseline: old.baseline };
  const { baseline, candidates } = toRow(old);
  return { baseline: JSON.stringify([...new Set([...baseline, ...candidates])]) };
}

/** Some lists have an address as a path only, and the answer to a create the whole: a row has the whole one either way. */
function resolved(url: string, upstream: string): string {
  return URL.canParse(url) ? url : (URL.parse(url, upstream)?.href ?? url);
}

/** Columns that a change leaves out keep their values. */
function merged(old: StoredRow, change: RowChange, upstream: string) {
  const { notBefore, postId, url, matched, error, notFound, candidates, wasAmbiguous } = change;
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
  };
}
