import { iso } from '../../base/clock.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { dropMeta, readMeta, writeMeta } from '../../db/sql.ts';
import { type ChangeLog, changeLog } from '../../mirror/log/change-log.ts';
import {
  type Edit,
  type OutboxRow,
  type OutboxState,
  type PostsOfRow,
  type StoredRow,
  type SweepCheck,
  toRow,
} from '../decide/types.ts';
import { acceptor, kindOf } from './accept.ts';
import { batchWriter } from './batches.ts';
import { attemptEnder, claimWriter } from './claim.ts';
import { type Move, reopener, rowMover } from './move.ts';
import type { OutboxReader } from './reads.ts';
import { refusedBoards } from './refused.ts';

const SETTLED: readonly OutboxState[] = ['confirmed', 'rejected', 'cancelled'];

/** The writing half of the outbox: each function is the inside of one transaction. */
export function outboxWriter(db: Db, options: OpenOptions, { knowledge }: Pick<OutboxReader, 'knowledge'>) {
  const changes = changeLog(db);
  const batches = batchWriter(db, changes);
  const boards = refusedBoards(db);
  const move = rowMover(db, options, { changes, batches, boards });
  const edit = rowEditor(db, changes);
  const countCheck = db.prepare(`
    UPDATE outbox SET checks_left = checks_left - 1
     WHERE checks_left > 0 AND state NOT IN ('ready', 'sending', 'ambiguous') AND (changed_at < $started OR changed_at > $at)`);
  return {
    /** Takes none where one of them is for a person who was erased. */
    accept: acceptor(db, options, { changes, batches, move, edit }),
    move,
    batches,
    /** Replaces the words of a row. Null if the state of the row does not allow it. */
    edit,
    ...claimWriter(db, { changes, boards, knowledge }),
    endAttempt: attemptEnder(db, move),
    ...postNotes(db, changes, move),
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

/** Replaces the words of a row, and keeps the old ones. */
function rowEditor(db: Db, changes: ChangeLog): (edit: Edit) => OutboxRow | null {
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const noteEdit = db.prepare(`
    INSERT INTO outbox_edits (outbox_id, n, edited_at, before)
    SELECT $id, count(*) + 1, $at, $before FROM outbox_edits WHERE outbox_id = $id`);
  const mend = db.prepare(`
    UPDATE outbox SET kind = $kind, board = $board, title = $title, content = $content, email = $email, full_name = $full_name,
                      content_hash = $content_hash, changed_at = $at WHERE id = $id`);
  return ({ id, from, post, content_hash, now }) => {
    const old = byId.get(id);
    if (!old || !from.includes(old.state) || old.erased_at !== null) return null;
    const { board, title, content, email, full_name } = old;
    noteEdit.run({ id, at: iso(now), before: JSON.stringify({ board, title, content, email, full_name }) });
    mend.run({ id, kind: kindOf(post), ...post, content_hash, at: iso(now) });
    changes.add('outbox.updated', iso(now), id);
    return toRow(byId.get(id) ?? old);
  };
}

/** Posts that may be those of a row, for people. */
function postNotes(db: Db, changes: ChangeLog, move: Move) {
  const reopen = reopener(db, move);
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const showSecond = db.prepare(`
    UPDATE outbox SET duplicate_of = iif(state = 'confirmed', coalesce(duplicate_of, $second), duplicate_of), candidates = $candidates,
                      changed_at = $at WHERE id = $id`);
  return {
    /** Shows second posts on a sent row; false where it shows all of them already. */
    noteSeconds({ id, posts, now }: PostsOfRow): boolean {
      const old = byId.get(id);
      const known = old ? toRow(old).candidates : [];
      const fresh = posts.filter(
        (post) => post !== old?.duplicate_of && post !== old?.post_id && !known.includes(post),
      );
      // A row on its way has no post yet, and so no second one.
      if (!old || !SETTLED.includes(old.state) || fresh.length === 0) return false;
      showSecond.run({
        id,
        at: iso(now),
        second: fresh[0] ?? null,
        candidates: JSON.stringify([...known, ...fresh]),
      });
      changes.add('outbox.updated', iso(now), id);
      for (const post of fresh) reopen(id, post, now);
      return true;
    },
  };
}
