import { AppError } from '../../base/errors.ts';
import type { Resource } from '../../contract/endpoints.ts';
import { counted } from '../../text/text.ts';
import { type AbsenceVerdict, judgeAbsences } from '../decide/absence.ts';
import type { ListFacts } from '../decide/list-facts.ts';
import { HEAD_PAGES } from './head.ts';
import { pageWaitOf } from './pace.ts';
import { type AnyPage, indexAll, type PassContext, walk, writePage } from './pages.ts';
import type { Sweep, SweepState } from './state.ts';

interface SweepEnd {
  /** Null where the sweep says nothing about rows that it did not show. */
  verdict: AbsenceVerdict | null;
  /** What the list left out by its own word; null where it showed everything. */
  lacks: string | null;
  facts: ListFacts;
  /** The rows of the first page that this process read. */
  began: ReadonlySet<number>;
}

/**
 * Walks the whole list and says what its end allows to conclude. With `until`, the rows at which this process began to read before, it
 * goes on until it has shown all of them: from there on everything has been read, and one command concludes nothing twice.
 */
export async function sweep(
  context: PassContext,
  under: Sweep,
  until: ReadonlySet<number> | null,
): Promise<SweepEnd> {
  const { onPage } = context;
  const { resource } = under.pass;
  const pace = pageWaitOf(context.clock);
  let isIndexed = resource !== 'posts';
  let last = under.state;
  let began: ReadonlySet<number> | null = null;
  // Rows can have moved meanwhile, so all of them must come again and not just one.
  const toReach = new Set(until);
  for await (const page of walkFrom(context, resource, last.cursor)) {
    const hasTime = pace.arrived();
    if (began === null) refuseLostPlace(last, page);
    last = sweepPage(context, under, page, until ? 'again' : 'first');
    onPage(under.pass);
    // From now on rows are indexed as they come: they can be searched at once, and nothing is left for the end.
    if (hasTime && !isIndexed) await indexAll(context, null);
    isIndexed ||= hasTime;
    pace.done();
    began ??= new Set(page.rows.map(({ id }) => id));
    for (const { id } of page.rows) toReach.delete(id);
    if (until?.size && toReach.size === 0) break;
  }
  began ??= new Set();
  if (until) return { verdict: null, lacks: null, facts: under.facts, began };
  return { ...concluded(context, under, last), began };
}

/** A sweep that read copies from before the last counted sweep says nothing new. A row without a readable id may be any missing row. */
function concluded(
  { store, clock }: PassContext,
  { pass, facts }: Sweep,
  last: SweepState,
): Omit<SweepEnd, 'began'> {
  if (last.isCached) return { verdict: null, lacks: null, facts };
  const readAt = clock.now();
  if (last.hasUnknownRows) return { verdict: null, lacks: null, facts: { ...facts, readAt } };
  const verdict = judgeAbsences(store.evidence(pass, facts.absences));
  return {
    verdict,
    lacks: lackOf(verdict, last, mostMoved(pass, facts)),
    facts: { absences: verdict.learned, readAt, newRows: newRowsOf(facts, last) },
  };
}

/** How many rows can have moved during the sweep. In a first one every row is new, so nothing is known: a row for each page is allowed. */
function mostMoved({ counts }: Sweep['pass'], { readAt }: ListFacts): number {
  return readAt === null ? counts.pages : counts.inserted + counts.updated;
}

/** Rows that come again out of place and did not change, or fewer rows than the service counts: then others were left out. */
function lackOf({ rows, outOfPlace }: AbsenceVerdict, { count }: SweepState, changed: number): string | null {
  const fewer = (count ?? 0) - rows;
  if (fewer > 0)
    return `the service counts ${counted(count ?? 0, 'row')} and showed ${rows}: ${fewer} are left out`;
  if (outOfPlace <= changed) return null;
  return `${counted(outOfPlace, 'row')} came on two pages, so as many others may be left out`;
}

/** A first sweep brings every row as new, which says nothing. */
function newRowsOf(
  { readAt, newRows }: ListFacts,
  { newAtStart, newElsewhere }: SweepState,
): ListFacts['newRows'] {
  if (readAt === null || newAtStart + newElsewhere === 0) return newRows;
  return newAtStart > 0 ? 'start' : newRows === 'start' ? null : 'elsewhere';
}

/** The upstream has forgotten where an interrupted sweep stopped, or the list has become shorter than that. */
export class LostPlace extends AppError {
  constructor() {
    super('protocol', 'the list has no rows at the place where the sweep was interrupted; it begins again');
  }
}

/** A stored cursor may have expired. If the start of the list is served and the cursor is not, the cursor is the cause. */
async function* walkFrom(
  { client, signal, ahead }: PassContext,
  resource: Resource,
  from: string,
): AsyncGenerator<AnyPage, void, undefined> {
  let isResumed = from !== '';
  try {
    for await (const page of walk(client, resource, { from, signal, ahead })) {
      isResumed = false;
      yield page;
    }
  } catch (error) {
    const isServed = isResumed && (await client.page(resource, '', signal).catch(() => null)) !== null;
    throw isServed ? new LostPlace() : error;
  }
}

/** A place to resume at came from a page that said there was more: an end there, without a row, is no end of this sweep. */
function refuseLostPlace({ cursor }: SweepState, { rows, rejects, next }: AnyPage): void {
  if (cursor !== '' && next === null && rows.length + rejects.length === 0) throw new LostPlace();
}

/** Writes one page and returns the state after it. */
function sweepPage(
  context: PassContext,
  under: Sweep,
  page: AnyPage,
  reading: 'first' | 'again',
): SweepState {
  const { pass, facts, state } = under;
  const isStart = pass.counts.pages < HEAD_PAGES;
  const inserted = pass.counts.inserted;
  const next: SweepState = {
    ...state,
    cursor: page.next ?? '',
    isCached: state.isCached || isFromBefore(facts, page),
    hasUnknownRows: state.hasUnknownRows || page.rejects.some(({ id }) => id === null),
    count: state.count === undefined || state.count === page.count ? (page.count ?? null) : null,
  };
  writePage(context, pass, page, {
    shown: reading === 'first' ? idsOf(page) : null,
    // After the last page there is nothing to resume: a kill before the conclusion reads that page again.
    state: page.next === null ? null : JSON.stringify(next),
  });
  next[isStart ? 'newAtStart' : 'newElsewhere'] += pass.counts.inserted - inserted;
  if (page.next !== null) Object.assign(under, { state: next, counts: { ...pass.counts } });
  return next;
}

/** The ids of a page in the order shown; those of rows that did not decode are known by their places. */
function idsOf({ rows, rejects }: AnyPage): number[] {
  const ids: number[] = rows.map(({ id }) => id);
  for (const { index, id } of rejects.toSorted((a, b) => a.index - b.index))
    if (id !== null) ids.splice(index, 0, id);
  return ids;
}

/** Sweeps that read the same copies of a cache count as one: a row that slid between two copies is missing from each. */
function isFromBefore({ readAt }: ListFacts, { receivedAt, ageMs = 0 }: AnyPage): boolean {
  return ageMs > 0 && receivedAt - ageMs < (readAt ?? 0);
}
