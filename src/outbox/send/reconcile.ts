import { crashPoint } from '../../base/crash.ts';
import { counted } from '../../text/text.ts';
import { TRANSITIONS } from '../decide/states.ts';
import type { OutboxRow, RowChange, Transition } from '../decide/types.ts';
import type { Verdict } from '../decide/whose.ts';
import * as whose from '../decide/whose.ts';
import type { OutboxStore } from '../store/store.ts';
import type { OutboxContext } from './context.ts';
import { contentAsSent, searchFor } from './mark.ts';
import { backoff, hasSettled, isUnderWay, postpone } from './settle.ts';
import * as list from './window.ts';

export type ReconcileResult = 'found' | 'send again' | 'uncertain' | 'later';

/** Finds out what became of every ambiguous row that has settled, by reading only. Where that fails, all of them are left for later. */
export async function reconcile(context: OutboxContext): Promise<Map<number, ReconcileResult>> {
  const rows = context.store.unclear();
  const due = rows.filter((row) => row.state === 'ambiguous' && hasSettled(context, row));
  if (due.length === 0) return new Map();
  try {
    const listed = await readFor(context, due);
    crashPoint('reconcile:read');
    context.onWindow?.(null);
    return concludeAll(context, listed);
  } catch (error) {
    for (const row of due) postpone(context, row, TRANSITIONS.recheck, error);
    return new Map(due.map(({ id }) => [id, 'later']));
  }
}

/** With more rows than this, a read of the list takes fewer requests than a search for each. */
const MOST_SEARCHED = 10;

/**
 * A search for each row, until one finds nothing: then the list once for all that are left. A list that is not newest first is read twice,
 * because a post that slips from one page to the next during a long read is missed by one.
 */
async function readFor(context: OutboxContext, due: readonly OutboxRow[]): Promise<list.Listed> {
  const { store, clock } = context;
  const listed = list.nothingListed();
  const left = (): OutboxRow[] => {
    const { verdicts } = ask(store, clock.now(), store.unclear(), listed);
    return due.filter(({ id }) => verdicts.get(id)?.kind !== 'confirmed');
  };
  for (let rows = left(), most = MOST_SEARCHED; rows[0] && rows.length <= most; rows = left()) {
    most = rows.length - 1;
    for (const post of await searchFor(context, rows[0])) listed.posts.set(post.id, post);
  }
  // What was listed before a row was sent again has been read for it.
  const asRead = (row: OutboxRow): OutboxRow => {
    const last = row.not_found === 0 ? undefined : store.attempts(row.id).at(-1);
    return last ? { ...row, first_sent_at: last.started_at, known_max_id: null } : row;
  };
  for (let reads = 0, rows = left(); reads < 2 && rows.length > 0; reads++, rows = left())
    if (await list.readWindow(context, list.windowOf(store, rows.map(asRead)), listed)) break;
  return listed;
}

/** The table of `whose.ts` over what was just read, and what a sweep has brought or the mirror has since these rows were sent. */
export function ask(
  store: OutboxStore,
  now: number,
  rows: readonly OutboxRow[],
  listed = list.nothingListed(),
  swept?: readonly whose.ShownPost[],
): whose.Decision {
  const asking = rows.filter(({ state }) => state !== 'uncertain');
  const mirrored = swept ?? store.postsSince(list.windowOf(store, asking.length > 0 ? asking : rows));
  const posts = new Map([...mirrored, ...listed.posts.values()].map((post) => [post.id, post]));
  for (const id of store.boundPosts([...posts.keys()])) posts.delete(id);
  const free = [...posts.values()];
  const words = free.map((post) => ({ ...post, hash: whose.contentHash(post), marks: whose.marksIn(post) }));
  const sent = store.sentLike(words, swept !== undefined);
  const shown = [...listed.ours.values(), ...sent.flatMap(({ author }) => author ?? [])];
  const people = whose.learnPeople([...store.sentAuthors(), ...shown]);
  const facts = factReader(store, now, listed);
  const sentRows = sent.map((alike) => ({ ...facts(alike.row), ...alike.shown }));
  return whose.decide(rows.map(facts), free, people, sentRows);
}

/** What the table asks of a row. What is the same for many rows is read once. */
export function factReader(store: OutboxStore, now: number, listed: list.Listed) {
  const [marks, latest] = [store.marks(), store.latestSent()];
  return (row: OutboxRow): whose.SentRow => {
    const sentAt = Date.parse(row.first_sent_at ?? '');
    const last = row.state === 'ambiguous' ? store.attempts(row.id).at(-1) : undefined;
    const lastSentAt = last ? Date.parse(last.started_at) : sentAt;
    return {
      ...row,
      content: contentAsSent(row),
      ...list.windowOf(store, [row]),
      mark: marks[row.board] === 'kept' ? (whose.marksIn({ content: row.mark ?? '' })[0] ?? null) : null,
      isUnderWay: isUnderWay(row, now),
      named: last?.post_id ?? null,
      whyUnread: list.whyUnread(listed, row, lastSentAt, latest),
      waitedMs: now - lastSentAt,
    };
  };
}

/** Writes down what the table says of the rows that have settled. */
function concludeAll(context: OutboxContext, listed: list.Listed): Map<number, ReconcileResult> {
  const { store, clock } = context;
  const [rows, now] = [store.unclear(), clock.now()];
  const { verdicts, seconds } = ask(store, now, rows, listed);
  const results = new Map<number, ReconcileResult>();
  for (const row of rows) {
    const verdict = isUnderWay(row, now) ? undefined : verdicts.get(row.id);
    const result = verdict && conclude(context, row, verdict);
    if (result) results.set(row.id, result);
  }
  for (const [id, posts] of seconds) store.noteSeconds({ id, posts, now });
  crashPoint('reconcile:recorded');
  return results;
}

/** By a post that is, or could be, the row's. */
export function isHeldUp(verdict: Verdict | undefined): boolean {
  return verdict?.kind === 'confirmed' || (verdict && 'posts' in verdict ? verdict.posts.length > 0 : false);
}

/** Null where nothing changes: only a post holds up a row that is about to be sent again. */
export function conclude(context: OutboxContext, row: OutboxRow, verdict: Verdict): ReconcileResult | null {
  const { store, clock, settleMs, random, onWindow } = context;
  const now = clock.now();
  if (row.state === 'ready' && !isHeldUp(verdict)) return null;
  if (verdict.kind === 'later' && !isHeldUp(verdict)) onWindow?.(verdict.why);
  const notBefore = verdict.kind === 'later' ? now + Math.max(settleMs, backoff(row, now, random)) : null;
  const isMoved = moveRow(store, row, verdict, { now, notBefore });
  // The store refuses where a person has meanwhile said that the post is another row's.
  if (verdict.kind === 'confirmed') return isMoved ? 'found' : 'later';
  return isMoved ? verdict.kind : null;
}

/** More than a person compares. */
const MOST_CANDIDATES = 5;

/** Along the transition of its verdict. False where none begins at its state, and where a person who has to decide has seen all posts. */
export function moveRow(store: OutboxStore, row: OutboxRow, verdict: Verdict, change: RowChange): boolean {
  const move = (transition: Transition, more: Omit<RowChange, 'now'>): boolean =>
    store.move(row.id, transition, { ...change, ...more }) !== null;
  switch (verdict.kind) {
    case 'confirmed': {
      const { id: postId, url } = verdict.post;
      return move(TRANSITIONS.found, { postId, url, matched: verdict.how, error: null });
    }
    case 'uncertain': {
      const [count, candidates] = [verdict.posts.length, verdict.posts.slice(0, MOST_CANDIDATES)];
      if (row.state === 'uncertain' && candidates.every((id) => row.candidates.includes(id))) return false;
      const missing = `not in the list after ${counted(row.not_found + 1, 'unclear attempt')}`;
      const error = count === 0 ? missing : `${counted(count, 'post')} could be this one`;
      return move(TRANSITIONS.park, { candidates, error });
    }
    case 'later':
      return move(row.state === 'ready' ? TRANSITIONS.defer : TRANSITIONS.recheck, { error: verdict.why });
    case 'send again': {
      const error = 'the list shows no post that could be this one, after an unclear attempt';
      return move(TRANSITIONS.sendAgain, { notFound: row.not_found + 1, error });
    }
  }
}
