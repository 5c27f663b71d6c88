import { iso } from '../../base/clock.ts';
import type { Comment, Post } from '../../contract/decode.ts';
import type { Db, OpenOptions } from '../../db/open.ts';
import { immediate, scalar } from '../../db/sql.ts';
import type { AbsenceEvidence, Learned } from '../decide/absence.ts';
import type { PageResult, PageWrite, Pass, PassEnd, PassStart, PassSummary } from '../decide/types.ts';
import { packedRows } from '../index/columns.ts';
import { textIndex } from '../index/text-index.ts';
import { changeLog, passEvents } from '../log/change-log.ts';
import { suppression } from '../suppression/suppression.ts';
import { absences } from './absences.ts';
import { lateIndexes } from './late-indexes.ts';
import type { Moments } from './moments.ts';
import { entityObserver, nothingShown, type Observed, type ShownEntity } from './observe.ts';
import { COMMENTS, POSTS, type RowWriter, rowWriter } from './rows.ts';
import { runLog } from './runs.ts';
import { rowCounter } from './status.ts';

/**
 * Pages in a row that changed nothing and were not worth a transaction, and how long the first of them waits: a kill makes us read at
 * most these again. A server nearby sends ten in half that time; of a slow one each page is worth more than its transaction.
 */
const DEFERRED_PAGES = 10;
const DEFERRED_MS = 200;
/** The mass-delete guard: where more rows than this share of the live ones, and than this many, went at once, a person decides. */
const GUARD_SHARE = 0.05;
const GUARD_ROWS = 20;

export function passes(db: Db, options: OpenOptions) {
  const tools = toolsOf(db, options);
  const { text, late, entities, absent, checkpoints } = tools;
  const applied = immediate(db, (page: PageWrite) => apply(tools, page));
  const writeLeft = immediate(db, checkpoints.write);
  // Reading the evidence of a million rows takes seconds. Other connections may write meanwhile.
  const read = db.transaction(absent.evidence);
  return {
    /** Starts a pass, or resumes the interrupted sweep of this resource. */
    beginPass: immediate(db, (start: PassStart) => begin(tools, start)),
    /** One page, whole or not at all: rows, history, search index, quarantine, absences, checkpoint, and the counts of the pass. */
    applyPage(page: PageWrite): PageResult {
      const before = { ...page.pass.counts };
      try {
        return applied(page);
      } catch (error) {
        Object.assign(page.pass.counts, before);
        entities.forget();
        throw error;
      }
    },
    /** What a sweep at the end of its list says about the rows that it did not show. */
    evidence(pass: Pass, learned: Learned): AbsenceEvidence {
      writeLeft(pass.runId);
      return read(pass, learned);
    },
    /** Ends a pass: keeps what a sweep missed, deletes the rows that count as deleted or holds them, writes the summary. */
    finishPass: immediate(db, (end: PassEnd) => finish(tools, end)),
    text,
    late,
  };
}

/** What the steps of a pass work with. */
function toolsOf(db: Db, options: OpenOptions) {
  const text = textIndex(db);
  const packed = packedRows(db);
  const late = lateIndexes(db);
  const changes = changeLog(db);
  const tellEnd = passEvents(db, changes);
  const writers = {
    posts: rowWriter(db, POSTS, text.posts, packed.posts, changes),
    comments: rowWriter(db, COMMENTS, text.comments, packed.comments, changes),
  };
  const entities = entityObserver(db, changes);
  const withoutErased = suppression(db, options);
  const absent = absences(db);
  const runs = runLog(db, absent.pages);
  const size = rowCounter(db);
  const quarantine = quarantined(db);
  const checkpoints = deferredCheckpoints(absent.pages, runs);
  return {
    text,
    packed,
    late,
    changes,
    tellEnd,
    writers,
    entities,
    withoutErased,
    absent,
    runs,
    size,
    quarantine,
    checkpoints,
  };
}

type Tools = ReturnType<typeof toolsOf>;

function begin({ runs, text, late }: Tools, start: PassStart): Pass {
  const resumed = start.resume && start.mode === 'sweep' ? runs.resume(start.resource) : null;
  if (resumed) return resumed;
  if (start.resource === 'posts' && text.posts.isNew()) late.putOff();
  if (start.mode === 'sweep') runs.abandon(start.resource, iso(start.now));
  return runs.start(start.resource, start.mode, iso(start.now));
}

function apply(tools: Tools, received: PageWrite): PageResult {
  const { text, packed, changes, writers, entities, absent, quarantine, checkpoints } = tools;
  const { pass, page, rejects, repeated, shown, state } = tools.withoutErased(received);
  const { observedAt, ageMs = 0, now } = received;
  const at = iso(observedAt);
  const when = { at, shownAt: iso(Math.max(0, observedAt - ageMs)), now: iso(now) };
  const { resource, runId, counts } = pass;
  text[resource].refresh();
  packed[resource].refresh();
  changes.refresh();
  // This comes first: the authors of rows that can be read now are compared as those of other rows.
  let written = quarantine.release(pass, page);
  written += entities.store(resource, carriedBy(page), when);
  const rows =
    page.resource === 'posts'
      ? writeRows(writers.posts, page.rows, when, pass, repeated)
      : writeRows(writers.comments, page.rows, when, pass, repeated);
  written += rows.written;
  text[resource].write();
  const seen = new Set<number>(page.rows.map((row) => row.id));
  for (const reject of rejects) if (reject.id !== null) seen.add(reject.id);
  if (absent.seen(resource, seen, when)) written++;
  absent.restored(resource, rows.restored);
  for (const reject of rejects) quarantine.keep(pass, at, reject);
  const ids = shown && absent.pages.changed(resource, counts.pages, shown);
  if (ids) checkpoints.note(runId, counts.pages, ids);
  counts.pages++;
  counts.rows += page.rows.length + rejects.length;
  counts.quarantined += rejects.length;
  const isQuiet = written + rejects.length === 0;
  checkpoints.page(pass, state, isQuiet ? observedAt : null);
  return { unchanged: rows.written + rejects.length === 0 };
}

function finish(tools: Tools, end: PassEnd): PassSummary {
  const { changes, writers, absent, runs, quarantine, checkpoints } = tools;
  const { pass, outcome, verdict = null, acceptDeletes = false } = end;
  const at = iso(end.now);
  const { resource } = pass;
  checkpoints.write(pass.runId);
  changes.refresh();
  const hasEnded = outcome === 'complete' || outcome === 'incomplete';
  const isWholeSweep = hasEnded && pass.mode === 'sweep';
  if (verdict) absent.keep(pass, verdict, at);
  if (isWholeSweep && acceptDeletes) absent.accept(resource);
  const { going, kept } = guarded(tools, pass, verdict?.deleted ?? []);
  const deleted = going.filter((id) => writers[resource].remove(id, at)).length;
  absent.settled(resource, going);
  const newlyHeld = kept.filter((id) => absent.hold(resource, id)).length;
  if (isWholeSweep) quarantine.releaseOthers(pass);
  tools.tellEnd(at, { resource, runId: pass.runId, isWholeSweep, outcome, newlyHeld });
  return runs.finish(end, { deleted, ...absent.counts(resource) }, at);
}

/** An empty answer where there were rows is more likely a fault than a wish to delete everything. */
function guarded(
  { absent, size }: Tools,
  { resource, counts }: Pass,
  gone: number[],
): { going: number[]; kept: number[] } {
  const most = counts.rows === 0 ? 0 : Math.max(GUARD_ROWS, GUARD_SHARE * size(resource).live);
  const held = absent.tooMany(resource, gone, most);
  return { going: gone.filter((id) => !held.has(id)), kept: [...held] };
}

/** Rows that did not decode, until a pass reads them. */
function quarantined(db: Db) {
  const put = db.prepare(`
    INSERT INTO quarantine (resource, seen_at, run_id, reason, body) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at, run_id = excluded.run_id, reason = excluded.reason`);
  // A later run is a head pass while the sweep was interrupted. The sweep did not look for the rows of that pass.
  const releaseOthers = db.prepare('DELETE FROM quarantine WHERE resource = ? AND run_id < ?');
  const any = scalar(db)<[string], number>('SELECT EXISTS (SELECT 1 FROM quarantine WHERE resource = ?)');
  // Rows of this pass itself stay: they are counted, and where one pass shows a row in two ways the first counts.
  const releaseRows = db.prepare<[string, number, string]>(`
    DELETE FROM quarantine WHERE resource = ? AND run_id <> ?
       AND iif(json_valid(body), body ->> 'id', NULL) IN (SELECT value FROM json_each(?))`);
  return {
    keep: ({ resource, runId }: Pass, at: string, { reason, body }: PageWrite['rejects'][number]): void =>
      void put.run(resource, at, runId, reason, body),
    /** Releases rows that could be read now, and returns how many. Their ids may have come in quotes. */
    release({ resource, runId }: Pass, { rows }: PageWrite['page']): number {
      if (!any.get(resource)) return 0;
      const ids = rows.flatMap(({ id }) => [id, String(id)]);
      return releaseRows.run(resource, runId, JSON.stringify(ids)).changes;
    },
    releaseOthers: ({ resource, runId }: Pass): void => void releaseOthers.run(resource, runId),
  };
}

/** The checkpoints of passes. A quiet page alone is not worth a write: reading it again after a kill costs less. */
function deferredCheckpoints(
  pages: ReturnType<typeof absences>['pages'],
  { checkpoint }: ReturnType<typeof runLog>,
) {
  const deferred = new Map<number, Deferred>();
  const deferredOf = (runId: number): Deferred => {
    const found = deferred.get(runId) ?? { pages: 0, since: null, ids: new Map() };
    deferred.set(runId, found);
    return found;
  };
  const write = (runId: number): void => {
    for (const [n, ids] of deferredOf(runId).ids) pages.write(runId, n, ids);
    deferred.delete(runId);
  };
  return {
    /** Keeps the ids of a page until the next checkpoint. */
    note: (runId: number, page: number, ids: Buffer): void => void deferredOf(runId).ids.set(page, ids),
    /** To be called after each page, with the time of one that changed nothing. */
    page(pass: Pass, state: string | null, quietAt: number | null): void {
      if (state === null) return;
      if (quietAt !== null && mayWait(deferredOf(pass.runId), quietAt)) return;
      write(pass.runId);
      checkpoint(pass, state);
    },
    /** Writes the ids that wait. */
    write,
  };
}

/** Pages since the last checkpoint, the time of the first of them, and the ids that wait, by the number of the page in the run. */
interface Deferred {
  pages: number;
  since: number | null;
  ids: Map<number, Buffer>;
}

/** Whether the place after one more quiet page need not be written yet. A clock that was set back does not tell how long it has waited. */
function mayWait(deferred: Deferred, at: number): boolean {
  deferred.since ??= at;
  const waited = at - deferred.since;
  return ++deferred.pages < DEFERRED_PAGES && waited >= 0 && waited < DEFERRED_MS;
}

function writeRows<T extends Post | Comment>(
  writer: RowWriter<T>,
  rows: T[],
  when: Moments,
  pass: Pass,
  repeated: ReadonlySet<number> | undefined,
): { written: number; restored: number } {
  let [written, restored] = [0, 0];
  // A b-tree that grows upwards fills its pages: a list that comes newest first made the file 1.6 times as large. Where a page shows a
  // row twice, the first one counts: writing both would be two changes in every sweep.
  const upwards = rows.toSorted((a, b) => a.id - b.id).filter(({ id }, i, all) => all[i - 1]?.id !== id);
  writer.expect(upwards.map(({ id }) => id));
  try {
    for (const row of upwards) {
      const effect = repeated?.has(row.id) && writer.has(row.id) ? 'unchanged' : writer.write(row, when);
      pass.counts[COUNTED[effect]]++;
      if (effect !== 'unchanged' && effect !== 'late') written++;
      if (effect === 'restored') restored++;
    }
  } finally {
    // What was read is true for this transaction only.
    writer.expect([]);
  }
  return { written, restored };
}

/** How the log of passes counts each outcome of a row. */
const COUNTED = {
  inserted: 'inserted',
  updated: 'updated',
  restored: 'updated',
  unchanged: 'unchanged',
  late: 'unchanged',
} as const;

/** The authors, boards, statuses and posts inside the rows of a page, each as its newest row shows it. */
function carriedBy(page: PageWrite['page']): Observed {
  const observed = nothingShown();
  for (const row of page.rows) show(observed.users, row.creator, row.id);
  if (page.resource === 'comments') {
    for (const row of page.rows) show(observed.references, row.post, row.id);
    return observed;
  }
  for (const row of page.rows) {
    show(observed.boards, row.board, row.id);
    show(observed.statuses, row.status, row.id);
  }
  return observed;
}

function show<T extends { id: number }>(shown: Map<number, ShownEntity<T>>, entity: T, by: number): void {
  const other = shown.get(entity.id);
  if (!other || other.by < by) shown.set(entity.id, { entity, by });
}
