import type { Comment, Post } from '../../contract/decode.ts';
import type { Resource } from '../../contract/endpoints.ts';
import type { Db, OpenOptions } from '../db.ts';
import { suppression } from '../erasure/suppression.ts';
import { absences } from './absences.ts';
import { commentWriter } from './comments.ts';
import { entityObserver, type Observed } from './observe.ts';
import { packIds } from './pack.ts';
import { postWriter } from './posts.ts';
import type { RowWriter } from './rows.ts';
import { runLog } from './runs.ts';
import type { AbsenceNote, PageResult, PageWrite, Pass, PassEnd, PassStart, PassSummary } from './seam.ts';
import { rowCounter } from './status.ts';
import { type TextIndex, textIndex } from './text-index.ts';

/** Pages in a row that changed nothing and were not worth a transaction; a kill makes us read at most these again. */
const DEFERRED_PAGES = 10;
/** More deletions at once than this share of the live rows, or this many, wait for a person. */
const BRAKE_SHARE = 0.05;
const BRAKE_ROWS = 20;

export interface Passes {
  begin(start: PassStart): Pass;
  apply(page: PageWrite): PageResult;
  note(note: AbsenceNote): void;
  finish(end: PassEnd): PassSummary;
  text: TextIndex;
}

export function passes(db: Db, options: OpenOptions): Passes {
  const text = textIndex(db);
  const writers = { posts: postWriter(db, text), comments: commentWriter(db) };
  const observe = entityObserver(db);
  const suppressed = suppression(db, options);
  const absent = absences(db);
  const runs = runLog(db);
  const keepIds = db.prepare('INSERT OR REPLACE INTO sweep_pages (run_id, n, ids) VALUES (?, ?, ?)');
  const size = rowCounter(db);
  const quarantine = db.prepare(`
    INSERT INTO quarantine (resource, seen_at, run_id, reason, body) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at, run_id = excluded.run_id, reason = excluded.reason`);
  // What a head pass met while the sweep was interrupted has a later run, and was not for this sweep to see.
  const releaseOthers = db.prepare('DELETE FROM quarantine WHERE resource = ? AND run_id < ?');
  const deferred = new Map<number, Deferred>();

  function begin(start: PassStart): Pass {
    if (start.memory !== undefined) runs.remember(start.resource, start.memory);
    const resumed = start.resume && start.mode === 'sweep' ? runs.resume(start.resource) : null;
    if (resumed) return resumed;
    if (start.mode === 'sweep') {
      runs.abandon(start.resource, iso(start.now));
      absent.forgetProven(start.resource);
    }
    return runs.start(start.resource, start.mode, iso(start.now));
  }

  function apply(received: PageWrite): PageResult {
    const { pass, page, rejects, observedAt, absence, keepIds: keep, state } = suppressed.apply(received);
    const at = iso(observedAt);
    const { resource, runId, counts } = pass;
    text.refresh();
    let changes = observe(carriedBy(page), at);
    const before = counts.unchanged;
    changes +=
      page.resource === 'posts'
        ? writeRows(writers.posts, page.rows, at, pass)
        : writeRows(writers.comments, page.rows, at, pass);
    const seen = new Set<number>(page.rows.map((row) => row.id));
    for (const reject of rejects) if (reject.id !== null) seen.add(reject.id);
    if (absent.clear(resource, seen)) changes++;
    const proven = absence
      ? absence.proven.flatMap((range) => absent.within(resource, absence.by, range, seen))
      : [];
    const suspects = absence?.suspected ? absent.within(resource, absence.by, absence.suspected, seen) : [];
    absent.note(resource, proven, 'proven', runId, at);
    absent.note(resource, suspects, 'suspect', runId, at);
    for (const reject of rejects) quarantine.run(resource, at, runId, reject.reason, reject.body);
    if (keep) deferredOf(runId).ids.set(counts.pages, packIds(idsOf(page, rejects)));
    counts.pages++;
    counts.rows += page.rows.length + rejects.length;
    counts.quarantined += rejects.length;
    const isQuiet = changes + proven.length + suspects.length + rejects.length === 0;
    checkpoint(pass, state, isQuiet);
    return {
      counts,
      proven: proven.length,
      suspects,
      unchanged: counts.unchanged - before === page.rows.length && rejects.length === 0,
    };
  }

  /** A quiet page alone is not worth a write: reading it again after a kill costs less than logging each one. */
  function checkpoint(pass: Pass, state: string | null, isQuiet: boolean): void {
    if (state === null) return;
    if (isQuiet && ++deferredOf(pass.runId).pages < DEFERRED_PAGES) return;
    writeIds(pass.runId);
    runs.checkpoint(pass, state);
  }

  function deferredOf(runId: number): Deferred {
    const found = deferred.get(runId) ?? { pages: 0, ids: new Map() };
    deferred.set(runId, found);
    return found;
  }

  function writeIds(runId: number): void {
    for (const [n, ids] of deferredOf(runId).ids) keepIds.run(runId, n, ids);
    deferred.delete(runId);
  }

  function finish(end: PassEnd): PassSummary {
    const { pass, now } = end;
    const at = iso(now);
    writeIds(pass.runId);
    const candidates = end.outcome === 'complete' ? concluded(end, at) : [];
    // What seemed proven in an order that then proved to be none was seen elsewhere in the list.
    const isSweep = end.outcome === 'complete' && pass.mode === 'sweep';
    if (isSweep && end.conclude !== 'proven') absent.forgetProven(pass.resource);
    const isHeld = !end.acceptDeletes && isBraked(pass, candidates.length);
    const deleted = isHeld ? 0 : removeAll(pass.resource, candidates, at);
    if (isHeld) absent.hold(pass.resource, candidates);
    else absent.settled(pass.resource, candidates);
    if (isSweep) releaseOthers.run(pass.resource, pass.runId);
    const { suspects, held } = absent.counts(pass.resource);
    return runs.finish(end, { deleted, held, suspects }, at);
  }

  function concluded({ pass, conclude }: PassEnd, at: string): number[] {
    if (conclude === 'proven') return absent.proven(pass.resource, pass.runId);
    return conclude === 'missing' ? absent.missing(pass.resource, pass.runId, at) : [];
  }

  /** An empty answer where there were rows is more likely a fault of theirs than a wish to delete everything. */
  function isBraked(pass: Pass, candidates: number): boolean {
    if (candidates === 0) return false;
    const limit = Math.max(BRAKE_ROWS, BRAKE_SHARE * size(pass.resource).live);
    return pass.counts.rows === 0 || candidates > limit;
  }

  function removeAll(resource: Resource, ids: readonly number[], at: string): number {
    return ids.filter((id) => writers[resource].remove(id, at)).length;
  }

  return {
    begin: immediate(db, begin),
    apply: wholly(immediate(db, apply)),
    note: immediate(db, ({ pass, ids, verdict, now }: AbsenceNote) =>
      absent.note(pass.resource, ids, verdict, pass.runId, iso(now)),
    ),
    finish: immediate(db, finish),
    text,
  };
}

/** Pages since the last checkpoint, and the ids to be kept of them, by the page's number in the run. */
interface Deferred {
  pages: number;
  ids: Map<number, Buffer>;
}

/** Every operation owns one transaction, with the write lock from its beginning: no upgrade can fail half-way. */
function immediate<A, R>(db: Db, operation: (argument: A) => R): (argument: A) => R {
  const run = db.transaction(operation);
  return (argument) => run.immediate(argument) as R;
}

/** A page that was rolled back leaves no trace in the counts either. */
function wholly(apply: (page: PageWrite) => PageResult): (page: PageWrite) => PageResult {
  return (page) => {
    const { counts } = page.pass;
    const before = { ...counts };
    try {
      return apply(page);
    } catch (error) {
      Object.assign(counts, before);
      throw error;
    }
  };
}

function writeRows<T extends Post | Comment>(
  writer: RowWriter<T>,
  rows: T[],
  at: string,
  pass: Pass,
): number {
  let changes = 0;
  // A b-tree that grows upwards fills its pages: a list that comes newest first made the file 1.6 times as large.
  const upwards = rows.toSorted((a, b) => a.id - b.id);
  writer.expect(upwards.map(({ id }) => id));
  try {
    for (const row of upwards) {
      const effect = writer.write(row, at);
      pass.counts[effect]++;
      if (effect !== 'unchanged') changes++;
    }
  } finally {
    // What was read is true for this transaction only.
    writer.expect([]);
  }
  return changes;
}

/** As they came: an id that stands twice must be seen to. */
function idsOf(page: PageWrite['page'], rejects: PageWrite['rejects']): number[] {
  const ids: number[] = page.rows.map((row) => row.id);
  for (const { id } of rejects) if (id !== null) ids.push(id);
  return ids;
}

function carriedBy(page: PageWrite['page']): Observed {
  const observed: Observed = {
    users: new Map(),
    boards: new Map(),
    statuses: new Map(),
    references: new Map(),
  };
  for (const row of page.rows) observed.users.set(row.creator.id, row.creator);
  if (page.resource === 'comments') {
    for (const row of page.rows) observed.references.set(row.post.id, row.post);
    return observed;
  }
  for (const row of page.rows) {
    observed.boards.set(row.board.id, row.board);
    observed.statuses.set(row.status.id, row.status);
  }
  return observed;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
