import type { Db } from './db.ts';
import { type StoredRow, toRow } from './outbox-rows.ts';
import type {
  Acceptance,
  Arrow,
  AttemptEnd,
  Claim,
  NewRow,
  OutboxRow,
  Refusal,
  RowChange,
} from './outbox-seam.ts';

/** The writing half of the outbox: each function is the inside of one transaction. */
export interface OutboxWriter {
  accept(rows: readonly NewRow[], at: string): Acceptance[];
  move(id: number, arrow: Arrow, change: RowChange): OutboxRow | null;
  claim(claim: Claim): OutboxRow | Refusal;
  endAttempt(end: AttemptEnd): OutboxRow | null;
  lookedAfter(id: number, duplicate: number | null, at: string): void;
  setPaused(reason: string | null): void;
}

export function outboxWriter(db: Db): OutboxWriter {
  const insert = db.prepare<unknown[], { id: number }>(`
    INSERT INTO outbox (batch, source_key, line, kind, board, title, content, email, full_name, twin_key, created_at, changed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source_key) DO NOTHING RETURNING id`);
  const byKey = db.prepare<[string], StoredRow>('SELECT * FROM outbox WHERE source_key = ?');
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const update = db.prepare(`
    UPDATE outbox SET state = $state, changed_at = $at, not_before = $notBefore, post_id = $postId, url = $url, last_error = $error,
                      not_found = $notFound, candidates = $candidates, was_ambiguous = $wasAmbiguous, looks_left = $looksLeft
     WHERE id = $id`);
  const twinUnderWay = db
    .prepare<[string, number], number>(
      "SELECT EXISTS (SELECT 1 FROM outbox WHERE twin_key = ? AND id <> ? AND state IN ('sending', 'ambiguous'))",
    )
    .pluck();
  const send = db.prepare(`
    UPDATE outbox SET state = $state, attempts = attempts + 1, changed_at = $at, not_before = NULL,
                      first_sent_at = coalesce(first_sent_at, $at),
                      baseline = iif(first_sent_at IS NULL, $baseline, baseline)
     WHERE id = $id`);
  const begin = db.prepare(
    'INSERT INTO outbox_attempts (outbox_id, n, started_at, deadline_at) VALUES (?, ?, ?, ?)',
  );
  const finish = db.prepare(`
    UPDATE outbox_attempts SET ended_at = ?, outcome = ?, http_status = ?, post_id = ?, error = ? WHERE outbox_id = ? AND n = ?`);
  const readPause = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'push_paused'").pluck();
  const pause = db.prepare(
    "INSERT INTO meta (key, value) VALUES ('push_paused', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const resume = db.prepare("DELETE FROM meta WHERE key = 'push_paused'");
  const look = db.prepare(`
    UPDATE outbox SET looks_left = looks_left - 1, duplicate_of = coalesce($duplicate, duplicate_of), changed_at = $at WHERE id = $id`);

  const acceptOne = (row: NewRow, at: string): Acceptance => {
    const { batch, source_key, line, board, title, content, email, full_name, twin_key } = row;
    const kind = email === null ? 'owner' : 'as-user';
    const added = insert.get(
      batch,
      source_key,
      line,
      kind,
      board,
      title,
      content,
      email,
      full_name,
      twin_key,
      at,
      at,
    );
    if (added) return { outcome: 'accepted', id: added.id };
    const found = byKey.get(source_key);
    if (!found) throw new Error('a key that cannot be inserted is there');
    if (!isSameText(found, row)) return { outcome: 'conflict', id: found.id };
    return { outcome: 'already', id: found.id, state: found.state, post_id: found.post_id, url: found.url };
  };

  const move = (id: number, arrow: Arrow, change: RowChange): OutboxRow | null => {
    const old = byId.get(id);
    if (!old || !arrow.from.includes(old.state)) return null;
    update.run({ id, state: arrow.to, ...merged(old, change) });
    const row = byId.get(id);
    return row ? toRow(row) : null;
  };

  return {
    accept: (rows, at) => rows.map((row) => acceptOne(row, at)),
    move,
    claim({ id, arrow, now, deadline, baseline }) {
      const old = byId.get(id);
      const at = iso(now);
      if (!old || !arrow.from.includes(old.state)) return { refused: 'gone' };
      if (old.not_before !== null && old.not_before > at) return { refused: 'not due' };
      if (readPause.get() !== undefined) return { refused: 'paused' };
      if (twinUnderWay.get(old.twin_key, id)) return { refused: 'twin under way' };
      send.run({ id, state: arrow.to, at, baseline: JSON.stringify(baseline) });
      begin.run(id, old.attempts + 1, at, iso(deadline));
      return toRow(byId.get(id) ?? old);
    },
    endAttempt({ id, n, outcome, httpStatus, error, arrow, change }) {
      finish.run(iso(change.now), outcome, httpStatus, change.postId ?? null, error, id, n);
      return move(id, arrow, change);
    },
    lookedAfter: (id, duplicate, at) => look.run({ id, duplicate, at }),
    setPaused: (reason) => (reason === null ? resume.run() : pause.run(reason)),
  };
}

/** What was left out of a change stays as it is. */
function merged(old: StoredRow, change: RowChange) {
  const { notBefore, postId, url, error, notFound, candidates, wasAmbiguous, looksLeft } = change;
  return {
    at: iso(change.now),
    notBefore: notBefore === undefined || notBefore === null ? null : iso(notBefore),
    postId: postId ?? old.post_id,
    url: url === undefined ? old.url : url,
    error: error === undefined ? old.last_error : error,
    notFound: notFound ?? old.not_found,
    candidates: candidates === undefined ? old.candidates : JSON.stringify(candidates),
    wasAmbiguous: wasAmbiguous ? 1 : old.was_ambiguous,
    looksLeft: looksLeft ?? old.looks_left,
  };
}

function isSameText(a: StoredRow, b: NewRow): boolean {
  return (
    a.board === b.board &&
    a.title === b.title &&
    a.content === b.content &&
    a.email === b.email &&
    a.full_name === b.full_name
  );
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
