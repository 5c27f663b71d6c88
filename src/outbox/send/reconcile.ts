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
  const { store, clock } = context;
  const due = store.unclear().filter((row) => row.state === 'ambiguous' && hasSettled(context, row));
  const results = new Map<number, ReconcileResult>(due.map(({ id }) => [id, 'later']));
  if (due.length === 0) return results;
  try {
    const listed = await readFor(context, due);
    crashPoint('reconcile:read');
    context.onWindow?.(null);
    const [rows, now] = [store.unclear(), clock.now()];
    const { verdicts, seconds } = ask(store, now, rows, listed);
    for (const row of rows) {
      const verdict = isUnderWay(row, now) ? undefined : verdicts.get(row.id);
      const result = verdict && conclude(context, row, verdict);
      if (result) results.set(row.id, result);
    }
    for (const [id, posts] of seconds) store.noteSeconds({ id, posts, now });
    crashPoint('reconcile:recorded');
  } catch (error) {
    for (const row of due) postpone(context, row, TRANSITIONS.recheck, error);
  }
  return results;
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
  // The list was read before a row was sent again, so only what came since is read.
  const asRead = (row: OutboxRow): OutboxRow => {
    const last = row.not_found === 0 ? undefined : store.attempts(row.id).at(-1);
    return last ? { ...row, first_sent_at: last.started_at, known_max_id: null } : row;
  };
  for (let reads = 0, rows = left(); reads < 2 && rows.length > 0; reads++, rows = left())
    if (await list.readWindow(context, list.windowOf(rows.map(asRead)), listed)) break;
  return listed;
}

/** Asks the table of `whose.ts` about the posts that were just read, and those that a sweep or the mirror has since these rows were sent. */
export function ask(
  store: OutboxStore,
  now: number,
  rows: readonly OutboxRow[],
  listed = list.nothingListed(),
  swept?: readonly whose.ShownPost[],
) {
  const asking = rows.filter(({ state }) => state !== 'uncertain');
  const mirrored = swept ?? store.postsSince(list.windowOf(asking.length > 0 ? asking : rows));
  const posts = new Map([...mirrored, ...listed.posts.values()].map((post) => [post.id, post]));
  for (const id of store.boundPosts([...posts.keys()])) posts.delete(id);
  const free = [...posts.values()];
  const words = free.map((post) => ({ ...post, hash: whose.contentHash(post), marks: whose.marksIn(post) }));
  const sent = store.sentLike(words, swept !== undefined);
  const authors = [...listed.ours.values(), ...sent.flatMap(({ author }) => author ?? [])];
  const people = whose.learnPeople([...store.sentAuthors(), ...authors]);
  const facts = factReader(store, now, listed);
  const sentRows = sent.map((alike) => ({ ...facts(alike.row), ...alike.shown }));
  return whose.decide(rows.map(facts), free, people, sentRows);
}

/** What the table asks of a row. What is the same for many rows is read once. */
export function factReader(store: OutboxStore, now: number, listed: list.Listed) {
  const [marks, latest] = [store.marks(), store.latestSent()];
  return (row: OutboxRow): whose.SentRow => {
    const last = row.state === 'ambiguous' ? store.attempts(row.id).at(-1) : undefined;
    const lastSentAt = Date.parse(last?.started_at ?? row.first_sent_at ?? '');
    return {
      ...row,
      content: contentAsSent(row),
      ...list.windowOf([row]),
      mark: marks[row.board] === 'kept' ? (whose.marksIn({ content: row.mark ?? '' })[0] ?? null) : null,
      isUnderWay: isUnderWay(row, now),
      named: last?.post_id ?? null,
      whyUnread: list.whyUnread(listed, row, lastSentAt, latest),
      waitedMs: now - lastSentAt,
    };
  };
}

/** Null where nothing changes: only a post holds up a row that is about to be sent again, and a person may have decided meanwhile. */
export function conclude(
  context: OutboxContext,
  row: OutboxRow,
  verdict: whose.Verdict,
): ReconcileResult | null {
  const { store, clock, settleMs, random, onWindow } = context;
  const now = clock.now();
  const isHeldUp = verdict.posts.length > 0;
  if (row.state === 'ready' && !isHeldUp) return null;
  if (verdict.kind === 'later' && !isHeldUp) onWindow?.(verdict.why);
  const notBefore = verdict.kind === 'later' ? now + Math.max(settleMs, backoff(row, now, random)) : null;
  if (!moveRow(store, row, verdict, { now, notBefore })) return null;
  return verdict.kind === 'confirmed' ? 'found' : verdict.kind;
}

const MOST_CANDIDATES = 5;

/** Along the transition of its verdict. False where none begins at its state, and where a person who has to decide has seen all posts. */
export function moveRow(store: OutboxStore, row: OutboxRow, verdict: whose.Verdict, change: RowChange) {
  const move = (transition: Transition, more: Omit<RowChange, 'now'>): boolean =>
    store.move(row.id, transition, { ...change, ...more }) !== null;
  const { kind, posts } = verdict;
  if (kind === 'confirmed') {
    const { id: postId, url } = verdict.post;
    return move(TRANSITIONS.found, { postId, url, matched: verdict.how, error: null });
  }
  if (kind === 'later')
    return move(row.state === 'ready' ? TRANSITIONS.defer : TRANSITIONS.recheck, { error: verdict.why });
  const notFound = row.not_found + 1;
  const missing = `not in the list after ${counted(notFound, 'unclear attempt')}`;
  if (kind === 'send again') return move(TRANSITIONS.sendAgain, { notFound, error: missing });
  const [count, candidates] = [posts.length, posts.slice(0, MOST_CANDIDATES)];
  if (row.state === 'uncertain' && candidates.every((id) => row.candidates.includes(id))) return false;
  const error = count === 0 ? missing : `${counted(count, 'post')} could be this one`;
  return move(TRANSITIONS.park, { candidates, error });
}
