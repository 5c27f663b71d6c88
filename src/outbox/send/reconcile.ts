import { crashPoint } from '../../base/crash.ts';
import { counted } from '../../text/text.ts';
import { TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow, RowChange, Transition } from '../decide/types.ts';
import * as whose from '../decide/whose.ts';
import type { OutboxStore } from '../store/store.ts';
import type { OutboxContext } from './context.ts';
import { contentAsSent, searchFor } from './mark.ts';
import { backoff, hasSettled, isUnderWay, postpone } from './settle.ts';
import * as list from './window.ts';

export type ReconcileResult = 'found' | 'send again' | 'uncertain' | 'later';

/** Finds out what became of every ambiguous row that has settled, by reading only. Where that fails, all of them are left for later. */
export async function reconcile(context: OutboxContext): Promise<Map<number, ReconcileResult>> {
  const ambiguous = context.store.unclear().filter(({ state }) => state === 'ambiguous');
  const due = ambiguous.filter((row) => hasSettled(context, row));
  if (due.length === 0) return new Map();
  try {
    const listed = await readFor(context, due);
    crashPoint('reconcile:read');
    context.onWindow?.(null);
    return concludeAll(context, listed);
  } catch (error) {
    for (const row of due) postpone(context, row, TRANSITIONS.wait, error);
    return new Map(due.map(({ id }) => [id, 'later']));
  }
}

/**
 * A search where rows are few or carry a mark, then the list once for all that are left. A list that is not newest first is read twice: a
 * post that slips from one page to the next during a long read is missed by one.
 */
async function readFor(context: OutboxContext, due: readonly OutboxRow[]): Promise<list.Listed> {
  const { store, clock } = context;
  const listed = list.nothingListed();
  const left = (): OutboxRow[] => {
    const { verdicts } = ask(store, clock.now(), store.unclear(), listed);
    return due.filter(({ id }) => verdicts.get(id)?.kind !== 'confirmed');
  };
  for (const post of await searchFor(context, left())) listed.posts.set(post.id, post);
  // What was listed before a row was sent again has been read for it.
  const asRead = (row: OutboxRow): OutboxRow => {
    const last = row.not_found === 0 ? undefined : store.attempts(row.id).at(-1);
    return last ? { ...row, first_sent_at: last.started_at, known_max_id: null } : row;
  };
  for (let reads = 0, rows = left(); reads < 2 && rows.length > 0; reads++, rows = left())
    if (await list.readWindow(context, list.windowOf(store, rows.map(asRead)), listed)) break;
  return listed;
}

/** The table of `whose.ts` over the mirror and what was just read. `since`: only posts that the mirror first saw since then. */
export function ask(
  store: OutboxStore,
  now: number,
  rows: readonly OutboxRow[],
  listed = list.nothingListed(),
  since?: number,
): whose.Decision {
  const asking = rows.filter(({ state }) => state !== 'uncertain');
  const { sentAt, known_max_id } = list.windowOf(store, asking.length > 0 ? asking : rows);
  const window = since === undefined ? { since: sentAt, known_max_id } : { since, known_max_id: null };
  const young = store
    .postsSince(window)
    .filter((post) => since === undefined || (post.firstSeenAt ?? 0) >= since);
  const posts = new Map([...young, ...listed.posts.values()].map((post) => [post.id, post]));
  const bound = store.boundPosts([...posts.keys()]);
  const free = [...posts.values()].filter(({ id }) => !bound.has(id));
  const words = free.map((post) => ({ ...post, hash: whose.contentHash(post), marks: whose.marksIn(post) }));
  const sent = store.sentLike(words, since !== undefined);
  const authors = [...store.sentAuthors(), ...listed.authors, ...sent.flatMap(({ author }) => author ?? [])];
  const facts = factReader(store, now, listed);
  const sentRows = sent.map((alike) => ({ ...facts(alike.row), ...alike.shown }));
  return whose.decide(rows.map(facts), free, whose.learnPeople(authors), sentRows);
}

/** What the table asks of a row. What is the same for many rows is read once. */
export function factReader(
  store: OutboxStore,
  now: number,
  listed: list.Listed,
): (row: OutboxRow) => whose.SentRow {
  const marks = store.marks();
  const lanes = Map.groupBy(store.latestSent(), laneOf);
  return (row) => {
    const sentAt = Date.parse(row.first_sent_at ?? '');
    const last = row.state === 'ambiguous' ? store.attempts(row.id).at(-1) : undefined;
    const lastSentAt = last ? Date.parse(last.started_at) : sentAt;
    const sentLately = lanes.get(laneOf(row)) ?? [];
    return {
      ...row,
      content: contentAsSent(row),
      sentAt,
      isListKnown: list.isListKnown(store, sentAt),
      mark: marks[row.board] === 'kept' ? (whose.marksIn({ content: row.mark ?? '' })[0] ?? null) : null,
      isUnderWay: isUnderWay(row, now),
      named: last?.post_id ?? null,
      whyUnread: list.whyUnread(listed, row, { sentLately, lastSentAt }),
      waitedMs: now - lastSentAt,
    };
  };
}

function laneOf({ kind, board }: Pick<OutboxRow, 'kind' | 'board'>): string {
  return `${kind} ${board}`;
}

/** Writes down what the table says of the rows that have settled. */
function concludeAll(context: OutboxContext, listed: list.Listed): Map<number, ReconcileResult> {
  const { store, clock } = context;
  const [rows, now] = [store.unclear(), clock.now()];
  const { verdicts, seconds } = ask(store, now, rows, listed);
  const results = rows.flatMap((row): [number, ReconcileResult][] => {
    const verdict = isUnderWay(row, now) ? undefined : verdicts.get(row.id);
    const result = verdict && conclude(context, row, verdict);
    return result ? [[row.id, result]] : [];
  });
  for (const [id, posts] of seconds) store.noteSeconds({ id, posts, now });
  crashPoint('reconcile:recorded');
  return new Map(results);
}

/** Moves a row along the transition of its verdict. Null where none begins at its state: a verdict changes nothing there. */
export function conclude(
  { store, clock, settleMs, random, onWindow }: OutboxContext,
  row: OutboxRow,
  verdict: whose.Verdict,
): ReconcileResult | null {
  const now = clock.now();
  const isUnread = verdict.kind === 'later' && verdict.posts.length === 0;
  if (isUnread && row.state === 'ready') return null;
  if (isUnread) onWindow?.(verdict.why);
  const notBefore = verdict.kind === 'later' ? now + Math.max(settleMs, backoff(row, now, random)) : null;
  const [transition, change] = moveOf(row, verdict);
  const isMoved = store.move(row.id, transition, { now, notBefore, ...change }) !== null;
  // The store refuses where a person has meanwhile said that the post is another row's.
  if (verdict.kind === 'confirmed') return isMoved ? 'found' : 'later';
  return isMoved ? verdict.kind : null;
}

/** More than a person compares. */
const MOST_CANDIDATES = 5;

/** Where a verdict leads a row, and what changes with that. */
export function moveOf(
  { state, not_found }: OutboxRow,
  verdict: whose.Verdict,
): [Transition, Omit<RowChange, 'now'>] {
  switch (verdict.kind) {
    case 'confirmed': {
      const { id: postId, url } = verdict.post;
      return [TRANSITIONS.found, { postId, url, matched: verdict.how, error: null }];
    }
    case 'uncertain': {
      const count = verdict.posts.length;
      const missing = `not in the list after ${counted(not_found + 1, 'unclear attempt')}`;
      const error = count === 0 ? missing : `${counted(count, 'post')} could be this one`;
      return [TRANSITIONS.park, { candidates: verdict.posts.slice(0, MOST_CANDIDATES), error }];
    }
    case 'later':
      return [state === 'ready' ? TRANSITIONS.defer : TRANSITIONS.wait, { error: verdict.why }];
    case 'send again': {
      const error = 'the list shows no post that could be this one, after an unclear attempt';
      return [TRANSITIONS.sendAgain, { notFound: not_found + 1, error }];
    }
  }
}
