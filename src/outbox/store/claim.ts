import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { noteCreate } from '../../mirror/store/troubles.ts';
import {
  type AttemptEnd,
  type Claim,
  type OutboxRow,
  type Refusal,
  type StoredRow,
  toRow,
} from '../decide/types.ts';
import type { Move, MoveDeps } from './move.ts';
import { paceOf } from './pace.ts';
import type { OutboxReader } from './reads.ts';
import { isOfBoard } from './refused.ts';

interface ClaimDeps extends Pick<OutboxReader, 'knowledge'>, Pick<MoveDeps, 'changes' | 'boards'> {}

/** Begins attempts, or says why not. */
export function claimWriter(db: Db, { changes, boards, knowledge }: ClaimDeps) {
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const twinUnderWay = scalar(db)<[string, number], number>(`
    SELECT EXISTS (SELECT 1 FROM outbox WHERE content_hash = ? AND id <> ? AND state IN ('sending', 'ambiguous'))`);
  // If all earlier attempts certainly left no post, this attempt is the first that can leave one. Posts from before it are not ours.
  const send = db.prepare(`
    UPDATE outbox SET state = $state, attempts = attempts + 1, changed_at = $at, not_before = NULL,
                      first_sent_at = iif(was_ambiguous, first_sent_at, $at),
                      known_max_id = iif(was_ambiguous, known_max_id, $knownMaxId), mark = $mark
     WHERE id = $id`);
  const begin = db.prepare(`
    INSERT INTO outbox_attempts (outbox_id, n, started_at, deadline_at) VALUES (?, ?, ?, ?)`);
  const readPause = scalar(db)<[], string>("SELECT value FROM meta WHERE key = 'push_paused'");
  const pace = paceOf(db);
  const refused = (old: StoredRow | undefined, from: readonly string[], at: string): Refusal | null => {
    if (!old || !from.includes(old.state)) return { refused: 'gone' };
    // A clock that was ahead made a change that lies in the future. The time that this change set counts as come.
    if (old.not_before !== null && old.not_before > at && old.changed_at <= at) return { refused: 'not due' };
    if (old.on_hold === 1) return { refused: 'on hold' };
    if (readPause.get() !== undefined) return { refused: 'paused' };
    if (boards.closed(Date.parse(at)).some((board) => isOfBoard(old, board))) return { refused: 'not due' };
    return twinUnderWay.get(old.content_hash, old.id) ? { refused: 'same content under way' } : null;
  };

  return {
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
  };
}

/** Ends an attempt, and moves its row. */
export function attemptEnder(db: Db, move: Move): (end: AttemptEnd) => OutboxRow | null {
  const finish = db.prepare(`
    UPDATE outbox_attempts SET ended_at = $at, outcome = $outcome, http_status = $httpStatus, post_id = $postId, error = $error,
                               after_run = iif(EXISTS (SELECT 1 FROM posts WHERE id = $postId), NULL,
                                               (SELECT coalesce(max(id), 0) FROM sync_runs WHERE resource = 'posts'))
     WHERE outbox_id = $id AND n = $n`);
  const takeBack = db.prepare('UPDATE outbox SET attempts = attempts - 1 WHERE id = ?');
  const forget = db.prepare('DELETE FROM outbox_attempts WHERE outbox_id = ? AND n = ?');
  return (end) => {
    const { id, n, outcome, httpStatus, error, named, isVoid, transition, change } = end;
    const row = move(id, transition, change);
    if (row && isVoid) {
      takeBack.run(id);
      forget.run(id, n);
    } else if (row) {
      const postId = change.postId ?? named ?? null;
      finish.run({ at: iso(change.now), outcome, httpStatus, postId, error, id, n });
      if (outcome === 'confirmed') noteCreate(db);
    }
    return row;
  };
}

function highest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
