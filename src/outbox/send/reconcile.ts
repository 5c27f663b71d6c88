import { crashPoint } from '../../base/crash.ts';
import { counted } from '../../text/text.ts';
import { SWEEP_CHECKS, TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow, RowChange, Transition } from '../decide/types.ts';
import * as whose from '../decide/whose.ts';
import type { OutboxStore } from '../store/store.ts';
import type { OutboxContext } from './context.ts';
import { contentAsSent, searchFor } from './mark.ts';
import { contentHash } from './match.ts';
import { backoff, hasSettled, isUnderWay, postpone } from './settle.ts';
import * as list from './window.ts';

export type ReconcileResult = 'found' | 'send again' | 'uncertain' | 'later';

/**
 * Finds out what became of every ambiguous row that has settled, by reading only: a search where rows are few or carry a mark, then the list
 * once for all that are left. A list that cannot be read leaves all of them as they are, for later.
 */
export async function reconcile(context: OutboxContext): Promise<Map<number, ReconcileResult>> {
  const ambiguous = context.store.unclear().filter(({ state }) => state === 'ambiguous');
  const due = ambiguous.filter((row) => hasSettled(context, row));
  if (due.length === 0) return new Map();
  try {
    const evidence = await evidenceFor(context, due);
    crashPoint('reconcile:read');
    context.onWindow?.(null);
    return concludeAll(context, evidence);
  } catch (error) {
    for (const row of due) postpone(context, row, TRANSITIONS.wait, error);
    return new Map(due.map(({ id }) => [id, 'later']));
  }
}

/** What was read of the upstream for a question. */
export interface Evidence {
  reads: readonly list.Listed[];
  /** Posts that the upstream's search found. */
  searched?: readonly whose.ShownPost[];
  /** Posts that the mirror first saw since then are asked about; since the first attempt of the rows where it is left out. */
  since?: number;
}

/** A list that is not newest first is read twice: a post that slips from one page to the next during a long read is missed by one. */
async function evidenceFor(context: OutboxContext, due: readonly OutboxRow[]): Promise<Evidence> {
  const { store, clock } = context;
  const reads: list.Listed[] = [];
  const leftAfter = (searched: readonly whose.ShownPost[]): OutboxRow[] => {
    const { verdicts } = ask(store, clock.now(), { reads, searched });
    return due.filter(({ id }) => verdicts.get(id)?.kind !== 'confirmed');
  };
  const searched = await searchFor(context, leftAfter([]));
  for (let left = leftAfter(searched); left.length > 0; left = leftAfter(searched)) {
    reads.push(await list.readWindow(context, list.windowOf(store, left)));
    if (reads.length === 2 || reads[0]?.end) break;
  }
  return { reads, searched };
}

/** The table of `whose.ts` over the mirror and what was just read. */
export function ask(
  store: OutboxStore,
  now: number,
  { reads, searched = [], since }: Evidence,
  rows: readonly OutboxRow[] = store.unclear(),
): whose.Decision {
  const asking = rows.filter(({ state }) => state !== 'uncertain');
  const { sentAt, knownMaxId } = list.windowOf(store, asking.length > 0 ? asking : rows);
  const window = since === undefined ? { created: sentAt, knownMaxId } : { created: since, knownMaxId: null };
  const mirrored = store.postsSince(window).map(list.fromMirror);
  const young = mirrored.filter(({ firstSeenAt }) => (firstSeenAt ?? 0) >= (since ?? 0));
  const shown = [...young, ...reads.flatMap(({ posts }) => [...posts.values()]), ...searched];
  const posts = new Map(shown.map((post) => [post.id, post]));
  const bound = store.boundPosts([...posts.keys()]);
  const free = [...posts.values()].filter(({ id }) => !bound.has(id));
  const words = free.map((post) => ({ id: post.id, hash: contentHash(post), marks: whose.marksIn(post) }));
  const isAsking = new Set(rows.map(({ id }) => id));
  const sent = store.sentLike(words, since !== undefined).filter(({ row }) => !isAsking.has(row.id));
  const authors = [...reads.flatMap((read) => read.authors), ...sent.flatMap(({ author }) => author ?? [])];
  const people = whose.learnPeople([...store.sentAuthors(), ...authors]);
  const facts = factReader(store, now, reads);
  const sentRows = sent.map((alike) => ({ ...facts(alike.row), ...alike.shown }));
  return whose.decide(rows.map(facts), free, people, sentRows);
}

/** What the table asks of a row. What is the same for many rows is read once. */
export function factReader(
  store: OutboxStore,
  now: number,
  reads: readonly list.Listed[],
): (row: OutboxRow) => whose.SentRow {
  const marks = store.marks();
  const lanes = Map.groupBy(reads.length === 0 ? [] : store.latestSent(), laneOf);
  const whyNotAtAll = list.whyNotWhole(store, reads);
  const isListed = (id: number): boolean => reads.every(({ ours }) => ours.has(id));
  return (row) => {
    const sentAt = list.sentAtOf(row);
    const last = row.state === 'ambiguous' ? store.attempts(row.id).at(-1) : undefined;
    const lastAt = last ? Date.parse(last.started_at) : sentAt;
    const latest = lanes.get(laneOf(row)) ?? [];
    const isLaterListed = latest.some((post) => Date.parse(post.sentAt) > lastAt && isListed(post.id));
    const isUpToDate = !latest[0] || latest[0].isMirrored === 1 || isListed(latest[0].id) || isLaterListed;
    const isCached = reads.some(({ asOf }) => asOf < Date.parse(row.not_before ?? ''));
    return {
      ...row,
      content: contentAsSent(row),
      name: row.full_name,
      sentAt,
      knownMaxId: row.known_max_id,
      isListKnown: list.isListKnown(store, sentAt),
      dismissed: row.baseline,
      mark: marks[row.board] === 'kept' ? (whose.marksIn({ content: row.mark ?? '' })[0] ?? null) : null,
      isUnderWay: isUnderWay(row, now),
      named: last?.post_id ?? null,
      whyUnread: isCached ? CACHED : (whyNotAtAll ?? (isUpToDate ? null : BEHIND)),
      unclearAttempts: row.not_found + 1,
      isLaterListed,
      waitedMs: now - lastAt,
    };
  };
}

const CACHED = 'a cache in between showed the list as it was before this could be listed';
/** A list that does not show what was sent the same way, and was answered with a number, does not show this row's post either. */
const BEHIND =
  'the list does not show what was sent last to the same board, although the service gave it a number';

function laneOf({ kind, board }: Pick<OutboxRow, 'kind' | 'board'>): string {
  return `${kind} ${board}`;
}

/** Writes down what the table says of the rows that have settled. */
function concludeAll(context: OutboxContext, evidence: Evidence): Map<number, ReconcileResult> {
  const { store, clock } = context;
  const [rows, now] = [store.unclear(), clock.now()];
  const { verdicts, seconds } = ask(store, now, evidence, rows);
  const results = rows.flatMap((row): [number, ReconcileResult][] => {
    const verdict = isUnderWay(row, now) ? undefined : verdicts.get(row.id);
    const result = verdict && conclude(context, row, verdict, evidence.reads);
    return result ? [[row.id, result]] : [];
  });
  for (const [id, posts] of seconds) store.noteSeconds({ id, posts, now });
  crashPoint('reconcile:recorded');
  return new Map(results);
}

/** Moves a row along the transition of its verdict. Null where none begins at its state: a verdict changes nothing there. */
export function conclude(
  context: OutboxContext,
  row: OutboxRow,
  verdict: whose.Verdict,
  reads: readonly list.Listed[],
): ReconcileResult | null {
  const { store, clock, settleMs, random } = context;
  const now = clock.now();
  const move = (to: ReconcileResult, transition: Transition, change: Partial<RowChange>) =>
    store.move(row.id, transition, { now, notBefore: null, ...change }) === null ? null : to;
  switch (verdict.kind) {
    case 'confirmed':
      // The store refuses where a person has meanwhile said that the post is another row's.
      return bind(store, now, row, verdict) ? 'found' : 'later';
    case 'uncertain': {
      const shown = verdict.posts.slice(0, MOST_CANDIDATES);
      context.observe?.(shown.flatMap((id) => reads.find(({ raw }) => raw.has(id))?.raw.get(id) ?? []));
      const change = { candidates: shown.filter((id) => id >= 0), error: whyParked(row, verdict.posts) };
      return move('uncertain', TRANSITIONS.park, { ...change, checksLeft: SWEEP_CHECKS });
    }
    case 'later': {
      const isReady = row.state === 'ready';
      if (isReady && verdict.posts.length === 0) return null;
      if (verdict.posts.length === 0) context.onWindow?.(verdict.why);
      const notBefore = now + Math.max(settleMs, backoff(row, now, random));
      const change = { notBefore, error: verdict.why };
      return move('later', isReady ? TRANSITIONS.defer : TRANSITIONS.wait, change);
    }
    case 'send again': {
      const error = 'the list shows no post that could be this one, after an unclear attempt';
      // The checks are for a row whose import was cancelled meanwhile: nothing else comes back to it.
      const change = { notFound: row.not_found + 1, error, checksIfUnclear: SWEEP_CHECKS };
      return move('send again', TRANSITIONS.sendAgain, change);
    }
  }
}

/** The post is this row's. */
export function bind(
  store: OutboxStore,
  now: number,
  { id, state }: OutboxRow,
  { post, how }: whose.Verdict & { kind: 'confirmed' },
): boolean {
  const transition = state === 'ready' ? TRANSITIONS.adopt : TRANSITIONS.found;
  const outcome = { postId: post.id, url: post.url, matched: how, error: null, checksLeft: SWEEP_CHECKS };
  return store.move(id, transition, { now, ...outcome }) !== null;
}

/** More than a person compares. */
export const MOST_CANDIDATES = 5;

export function whyParked({ not_found }: OutboxRow, posts: readonly number[]): string {
  if (posts.length === 0) return `not in the list after ${counted(not_found + 1, 'unclear attempt')}`;
  return `${counted(posts.length, 'post')} could be this one`;
}
