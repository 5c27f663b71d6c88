import type { Db, OpenOptions } from '../db.ts';
import { suppressedPerson, suppressionList } from '../erasure/list.ts';
import { type StoredRow, toRow } from './rows.ts';
import type {
  Acceptance,
  AfterLook,
  Arrow,
  AttemptEnd,
  Claim,
  NewRow,
  OutboxRow,
  Refusal,
  RowChange,
} from './seam.ts';

/** The writing half of the outbox: each function is the inside of one transaction. */
export interface OutboxWriter {
  accept(rows: readonly NewRow[], at: string): Acceptance[];
  move(id: number, arrow: Arrow, change: RowChange): OutboxRow | null;
  refusal(id: number, now: number): Refusal | null;
  claim(claim: Claim): OutboxRow | Refusal;
  endAttempt(end: AttemptEnd): OutboxRow | null;
  lookedAfter(look: AfterLook): void;
  setPaused(reason: string | null): void;
}

export function outboxWriter(db: Db, options: OpenOptions): OutboxWriter {
  const suppressed = suppressionList(db, options);
  // Without RETURNING: for that SQLite keeps a journal of each statement, three times the bytes written for an import.
  const insert = db.prepare(`
    INSERT INTO outbox (batch, source_key, line, kind, board, title, content, email, full_name, twin_key, created_at, changed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source_key) DO NOTHING`);
  const byKey = db.prepare<[string], StoredRow>('SELECT * FROM outbox WHERE source_key = ?');
  const byId = db.prepare<[number], StoredRow>('SELECT * FROM outbox WHERE id = ?');
  const update = db.prepare(`
    UPDATE outbox SET state = $state, changed_at = $at, not_before = $notBefore, post_id = $postId, url = $url, last_error = $error,
                      not_found = $notFound, candidates = $candidates, was_ambiguous = $wasAmbiguous, looks_left = $looksLeft,
                      baseline = $baseline, duplicate_of = nullif(duplicate_of, $postId)
     WHERE id = $id`);
  const boundTo = db.prepare<[number], number>('SELECT id FROM outbox WHERE post_id = ?').pluck();
  const twinUnderWay = db
    .prepare<[string, number], number>(
      "SELECT EXISTS (SELECT 1 FROM outbox WHERE twin_key = ? AND id <> ? AND state IN ('sending', 'ambiguous'))",
    )
    .pluck();
  // As long as every earlier attempt certainly came to nothing, this one is the first that can have left a post: what stood
  // before it is not ours.
  const send = db.prepare(`
    UPDATE outbox SET state = $state, attempts = attempts + 1, changed_at = $at, not_before = NULL,
                      first_sent_at = iif(was_ambiguous, first_sent_at, $at),
                      baseline = iif(was_ambiguous, baseline, $baseline)
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
    UPDATE outbox SET looks_left = looks_left - $counts, duplicate_of = coalesce(duplicate_of, $duplicate),
                      candidates = coalesce($candidates, candidates), changed_at = $at
     WHERE id = $id`);

  const acceptOne = (row: NewRow, at: string): Acceptance => {
    const { batch, source_key, line, board, title, content, email, full_name, twin_key } = row;
    const kind = email === null ? 'owner' : 'as-user';
    const added = insert.run(
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
    if (added.changes === 1) return { outcome: 'accepted', id: Number(added.lastInsertRowid) };
    const found = byKey.get(source_key);
    if (!found) throw new Error('a key that cannot be inserted is there');
    if (found.erased_at === null && !isSameText(found, row)) return { outcome: 'conflict', id: found.id };
    return { outcome: 'already', id: found.id, state: found.state, post_id: found.post_id, url: found.url };
  };

  const move = (id: number, arrow: Arrow, change: RowChange): OutboxRow | null => {
    const old = byId.get(id);
    if (!old || !arrow.from.includes(old.state)) return null;
    if (arrow.to === 'ready' && old.erased_at !== null) return null;
    if (change.postId !== undefined && (boundTo.get(change.postId) ?? id) !== id) return null;
    update.run({ id, state: arrow.to, ...merged(old, change), ...dismissed(old, arrow) });
    const row = byId.get(id);
    return row ? toRow(row) : null;
  };
  const refused = (old: StoredRow | undefined, from: readonly string[], at: string): Refusal | null => {
    if (!old || !from.includes(old.state)) return { refused: 'gone' };
    if (old.not_before !== null && old.not_before > at) return { refused: 'not due' };
    if (readPause.get() !== undefined) return { refused: 'paused' };
    return twinUnderWay.get(old.twin_key, old.id) ? { refused: 'twin under way' } : null;
  };

  return {
    accept(rows, at) {
      const list = suppressed();
      if (list && rows.some(({ email }) => email !== null && list.hashOf(email) !== undefined))
        throw suppressedPerson();
      return rows.map((row) => acceptOne(row, at));
    },
    move,
    refusal: (id, now) => refused(byId.get(id), ['ready'], iso(now)),
    claim({ id, arrow, now, deadline, baseline }) {
      const old = byId.get(id);
      const at = iso(now);
      const refusal = refused(old, arrow.from, at);
      if (refusal || !old) return refusal ?? { refused: 'gone' };
      send.run({ id, state: arrow.to, at, baseline: JSON.stringify(baseline) });
      begin.run(id, old.attempts + 1, at, iso(deadline));
      return toRow(byId.get(id) ?? old);
    },
    endAttempt({ id, n, outcome, httpStatus, error, arrow, change }) {
      const row = move(id, arrow, change);
      if (row) finish.run(iso(change.now), outcome, httpStatus, change.postId ?? null, error, id, n);
      return row;
    },
    lookedAfter({ id, now, counts, duplicate, candidates }) {
      const shown = candidates === null ? null : JSON.stringify(candidates);
      look.run({ id, at: iso(now), counts: counts ? 1 : 0, duplicate, candidates: shown });
    },
    setPaused: (reason) => (reason === null ? resume.run() : pause.run(reason)),
  };
}

/** Whoever has an uncertain row sent again says that none of its candidates is it: they count as known before from now on. */
function dismissed(old: StoredRow, arrow: Arrow): { baseline: string } {
  if (old.state !== 'uncertain' || arrow.to !== 'ready') return { baseline: old.baseline };
  const { baseline, candidates } = toRow(old);
  return { baseline: JSON.stringify([...new Set([...baseline, ...candidates])]) };
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
