import { AppError } from '../../base/errors.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import type { ChangeLog } from '../../mirror/log/change-log.ts';
import { suppressedPerson, suppressionList } from '../../mirror/suppression/list.ts';
import { canRevive, isCorrectable, isKeyless } from '../decide/identity.ts';
import { TRANSITIONS } from '../decide/states.ts';
import type {
  Acceptance,
  Edit,
  NewRow,
  OutboxRow,
  PostText,
  RowChange,
  StoredRow,
  Transition,
} from '../decide/types.ts';
import type { batchWriter } from './batches.ts';
import { sourceReader } from './source.ts';

/** As many proposals of agents as a person reads. */
const MOST_PROPOSED = 100;

function tooManyProposed(): AppError {
  return new AppError('busy', `${MOST_PROPOSED} proposed posts wait for a person already`, {
    hint: 'Somebody has to approve or cancel some of them first.',
  });
}

interface Changing {
  changes: ChangeLog;
  batches: ReturnType<typeof batchWriter>;
  move(id: number, transition: Transition, change: RowChange): OutboxRow | null;
  edit(edit: Edit): OutboxRow | null;
}

/** Rows of files, programs and agents into the outbox: new ones, those that are there already, and those that come again with other words. */
export function acceptor(db: Db, options: OpenOptions, { changes, batches, move, edit }: Changing) {
  const suppressed = suppressionList(db, options);
  const proposed = scalar(db)<[], number>("SELECT count(*) FROM outbox WHERE state = 'proposed'");
  const source = sourceReader(db);
  const { added, named } = rowAdder(db, changes);

  const acceptOne = (row: NewRow, at: string, onHold: number): Acceptance => {
    const found = source(row);
    if (!found) return added(row, at, onHold);
    if (canRevive(found, row)) return mendFrom(found, row, at);
    if (source.isSame(found, row)) return already(named(found, row, at));
    return isCorrectable(found) ? mendFrom(found, row, at) : { outcome: 'conflict', id: found.id };
  };

  const mendFrom = (found: StoredRow, row: NewRow, at: string): Acceptance => {
    const { board, title, content, email, full_name, content_hash } = row;
    const post = { board, title, content, email, full_name };
    const [now, from] = [Date.parse(at), [found.state]];
    if (!source.isSame(found, row)) edit({ id: found.id, from, post, content_hash, now });
    if (found.state === 'cancelled') batches.reopen(found.batch, now);
    move(found.id, TRANSITIONS.retry, { now, notBefore: null, error: null });
    return { outcome: 'mended', id: found.id };
  };

  return (rows: readonly NewRow[], at: string): Acceptance[] => {
    const isProposal = rows.some(({ isProposed }) => isProposed);
    // Within the transaction: agents propose at the same time.
    if (isProposal && (proposed.get() ?? 0) >= MOST_PROPOSED) throw tooManyProposed();
    const list = suppressed();
    if (list && rows.some(({ email }) => email !== null && list.hashOf(email) !== undefined))
      throw suppressedPerson();
    const held = new Map<string, number>();
    const holdOf = (batch: string): number => {
      const known = held.get(batch);
      if (known !== undefined) return known;
      const { isHeld, isPaced } = batches.holds(batch);
      held.set(batch, isHeld || isPaced ? 1 : 0);
      return holdOf(batch);
    };
    const taken = rows.map((row) => acceptOne(row, at, holdOf(row.batch)));
    // One change for all of them: SQLite gives new rows of one transaction numbers without a gap.
    const ids = taken.flatMap(({ outcome, id }) => (outcome === 'accepted' ? [id] : []));
    const type = isProposal ? 'outbox.needs_decision' : 'outbox.accepted';
    if (ids[0] !== undefined) changes.add(type, at, ids[0], { count: ids.length });
    return taken;
  };
}

/** Adds rows, and names those that are there by the key of the file. */
function rowAdder(db: Db, changes: ChangeLog) {
  // Without RETURNING: for that SQLite keeps a journal of each statement, three times the bytes written for an import.
  const insert = db.prepare(`
    INSERT INTO outbox (batch, source_key, line, kind, board, title, content, email, full_name, content_hash, created_at, changed_at, on_hold, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const isTaken = scalar(db)<[string], number>('SELECT 1 FROM outbox WHERE source_key = ?');
  const rename = db.prepare('UPDATE outbox SET source_key = ?, changed_at = ? WHERE id = ?');
  const added = (row: NewRow, at: string, onHold: number): Acceptance => {
    const { batch, line, board, title, content, email, full_name, content_hash } = row;
    const source_key = freeKey(row.source_key);
    const words = [board, title, content, email, full_name, content_hash];
    const state = row.isProposed ? [0, 'proposed'] : [onHold, 'ready'];
    // By place: values by name take a quarter more time.
    const { lastInsertRowid } = insert.run(batch, source_key, line, kindOf(row), ...words, at, at, ...state);
    const id = Number(lastInsertRowid);
    row.fileMatches?.add(id);
    return { outcome: 'accepted', id };
  };

  /** Another row with the same words, written in another way, may have taken the key. */
  const freeKey = (key: string): string => {
    let free = key;
    for (let n = 2; isTaken.get(free); n++) free = `${key}.${n}`;
    return free;
  };

  /** A row that was found by its words has the key of this file from now on: then an edit of it is no new one, nor another board. */
  const named = (found: StoredRow, { source_key }: NewRow, at: string): StoredRow => {
    const isKeyLost = isKeyless({ source_key }) && !isKeyless(found);
    if (found.source_key === source_key || isKeyLost || isTaken.get(source_key)) return found;
    rename.run(source_key, at, found.id);
    changes.add('outbox.updated', at, found.id);
    return found;
  };

  return { added, named };
}

function already({ id, state, post_id, url }: StoredRow): Acceptance {
  return { outcome: 'already', id, state, post_id, url };
}

export function kindOf({ email }: PostText): OutboxRow['kind'] {
  return email === null ? 'owner' : 'as-user';
}
