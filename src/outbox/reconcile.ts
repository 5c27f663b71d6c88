import { CLOCK_STEP_MS, iso } from '../base/clock.ts';
import { crashPoint } from '../base/crash.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { counted } from '../base/text.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { AttemptRow, OutboxRow, SentPost, Transition, Unclear } from '../store/outbox/types.ts';
import type { OutboxContext } from './context.ts';
import { SWEEP_CHECKS, TRANSITIONS } from './decide/states.ts';
import {
  type Decision,
  decide,
  learnPeople,
  marksIn,
  type SentRow,
  type ShownPost,
  type Verdict,
} from './decide/whose.ts';
import { contentAsSent, searchMarks } from './mark.ts';
import { contentHash } from './match.ts';
import { fromMirror, type Listed, readWindow, sentAtOf, whyNotWhole, windowOf } from './window.ts';

export type ReconcileResult = 'found' | 'send again' | 'uncertain' | 'later';

/** One read of the list serves every row that has settled, so the first to settle waits this long for the others. */
const LONGEST_WAIT_MS = 60_000;

/** When the next reconcile is due: with the last row that settles, or so long after the first. */
export function reconcileAt({ first, last }: Unclear): number {
  return Math.min(last, first + LONGEST_WAIT_MS);
}

/** A row on its way, or one that has not settled: a post may still prove to be its own. */
function isUnderWay({ state, not_before, changed_at }: OutboxRow, now: number): boolean {
  if (state !== 'ambiguous') return state === 'sending';
  // A change in the future was made by a clock that was ahead: the time it set counts as come.
  return not_before !== null && not_before > iso(now) && changed_at <= iso(now);
}

/**
 * Finds out what became of every ambiguous row that has settled, by reading only: a search for each that carries a mark, then the list
 * once for all of them. A list that cannot be read leaves all of them as they are, for later.
 */
export async function reconcile(context: OutboxContext): Promise<Map<number, ReconcileResult>> {
  const { store, clock } = context;
  const settled = store.unclear().filter((row) => row.state === 'ambiguous' && !isUnderWay(row, clock.now()));
  const { early = [], due = [] } = Object.groupBy(settled, (row) =>
    isEarly(context, row) ? 'early' : 'due',
  );
  const results = new Map<number, ReconcileResult>(early.map(({ id }) => [id, 'later']));
  if (due.length === 0) return results;
  let evidence: Evidence;
  try {
    evidence = await evidenceFor(context, due);
  } catch (error) {
    for (const row of due) postpone(context, row, TRANSITIONS.wait, error);
    return new Map([...early, ...due].map(({ id }) => [id, 'later']));
  }
  crashPoint('reconcile:read');
  context.onWindow?.(null);
  const concluded = concludeAll(context, evidence, new Set(due.map(({ id }) => id)));
  crashPoint('reconcile:recorded');
  return new Map([...results, ...concluded]);
}

/** Until when rows settle whose attempt this process has seen, by the clock that nobody can set. */
const settling = new WeakMap<object, Map<number, number>>();

export function keepSettling({ store, clock }: OutboxContext, id: number, notBefore: number): void {
  const rows = settling.get(store) ?? new Map<number, number>();
  settling.set(store, rows.set(id, clock.monotonic() + notBefore - clock.now()));
}

/** A clock that was put ahead makes a row due at once, while its post may still be on its way. */
function isEarly({ store, clock }: OutboxContext, { id }: OutboxRow): boolean {
  const left = (settling.get(store)?.get(id) ?? 0) - clock.monotonic();
  if (left <= CLOCK_STEP_MS) {
    settling.get(store)?.delete(id);
    return false;
  }
  const now = clock.now();
  store.move(id, TRANSITIONS.wait, {
    now,
    notBefore: now + left,
    error: 'the clock was put ahead: it settles all the same',
  });
  return true;
}

/** What was read of the upstream for a question. */
export interface Evidence {
  /** Reads of the list. */
  reads: readonly Listed[];
  /** Posts that a search for marks found. */
  searched: readonly ShownPost[];
  /** Posts that the mirror first saw since then are asked about; since the first attempt of the rows where it is left out. */
  since?: number;
}

const NOTHING: Evidence = { reads: [], searched: [] };

/** Only two reads without a post count as none: one that slips from one page to the next during a read is missed by one of them. */
async function evidenceFor(context: OutboxContext, due: readonly OutboxRow[]): Promise<Evidence> {
  const { store, clock } = context;
  const searched = await searchMarks(context, due);
  const isAnswered = (reads: Listed[]): boolean => {
    const { verdicts } = ask(store, clock.now(), { reads, searched });
    return due.every(({ id }) => verdicts.get(id)?.kind === 'confirmed');
  };
  const reads: Listed[] = [];
  const window = windowOf(store, due);
  while (reads.length < 2 && !isAnswered(reads)) reads.push(await readWindow(context, window));
  return { reads, searched };
}

/** The table of `whose.ts` over the mirror and what was just read. */
export function ask(
  store: OutboxStore,
  now: number,
  given: Partial<Evidence> = {},
  rows: readonly OutboxRow[] = store.unclear(),
): Decision {
  const evidence = { ...NOTHING, ...given };
  const asking = rows.filter(({ state }) => state !== 'uncertain');
  const earliest = windowOf(store, asking.length > 0 ? asking : rows);
  const { since } = evidence;
  const window =
    since === undefined
      ? { created: earliest.sentAt, knownMaxId: earliest.knownMaxId }
      : { created: since, knownMaxId: null };
  const mirrored = store.postsSince(window).map(fromMirror);
  const isYoung = ({ firstSeenAt }: ShownPost): boolean => (firstSeenAt ?? 0) >= (since ?? 0);
  const posts = new Map(mirrored.filter(isYoung).map((post) => [post.id, post]));
  for (const { posts: read } of evidence.reads) for (const [id, post] of read) posts.set(id, post);
  for (const post of evidence.searched) posts.set(post.id, post);
  const bound = store.boundPosts([...posts.keys()]);
  const free = [...posts.values()].filter(({ id }) => !bound.has(id));
  const isAsking = new Set(rows.map(({ id }) => id));
  const sent = sentLike(store, free, since !== undefined).filter(({ row }) => !isAsking.has(row.id));
  const authors = [
    ...evidence.reads.flatMap((read) => read.authors),
    ...sent.flatMap(({ author }) => author ?? []),
  ];
  const people = learnPeople([...store.sentAuthors(), ...authors]);
  const facts = factReader(store, now, evidence.reads);
  const settled = sent.map(({ row, shown }) => ({ ...facts(row), ...shown, isChecked: row.checks_left > 0 }));
  return decide(rows.map(facts), free, people, settled);
}

/** Sent rows with the words of one of the posts, or whose own post shows those words. */
function sentLike(store: OutboxStore, posts: readonly ShownPost[], areSwept: boolean) {
  const words = posts.map((post) => ({ id: post.id, hash: contentHash(post), marks: marksIn(post) }));
  return store.sentLike(words, areSwept);
}

/** What the table asks of a row. What is the same for many rows is read once. */
export function factReader(
  store: OutboxStore,
  now: number,
  reads: readonly Listed[] = [],
): (row: OutboxRow) => SentRow {
  const { sweptAt } = store.knowledge();
  const marks = store.marks();
  const isWhole = reads.length > 1 && whyNotWhole(store, reads) === null;
  const isListed = (id: number): boolean => reads.every(({ ours }) => ours.has(id));
  const lanes = new Map<string, SentPost[]>();
  const sentLast = (row: OutboxRow): SentPost[] => {
    const lane = `${row.kind} ${row.board}`;
    const sent = lanes.get(lane) ?? store.latestSent(row);
    lanes.set(lane, sent);
    return sent;
  };
  /** A list that does not show what was sent the same way, and was answered with a number, does not show this row's post either. */
  const readFacts = (row: OutboxRow, lastAt: number) => {
    const sent = sentLast(row);
    const isLaterListed = sent.some(({ id, sentAt }) => Date.parse(sentAt) > lastAt && isListed(id));
    const isUpToDate = !sent[0] || sent[0].isMirrored === 1 || isListed(sent[0].id) || isLaterListed;
    const isFresh = reads.every(({ asOf }) => asOf >= Date.parse(row.not_before ?? ''));
    return { isLaterListed, isReadWhole: isFresh && isUpToDate };
  };
  return (row) => {
    const sentAt = sentAtOf(row);
    const last = row.state === 'ambiguous' ? store.attempts(row.id).at(-1) : undefined;
    const lastAt = last ? Date.parse(last.started_at) : sentAt;
    const isMarked = row.mark !== null && marks[row.board] === 'kept';
    return {
      ...row,
      content: contentAsSent(row),
      name: row.full_name,
      sentAt,
      knownMaxId: row.known_max_id,
      isListKnown: sweptAt !== null && Date.parse(sweptAt) < sentAt,
      dismissed: row.baseline,
      mark: isMarked ? (marksIn({ content: row.mark ?? '' })[0] ?? null) : null,
      isUnderWay: isUnderWay(row, now),
      unclearAttempts: row.not_found + 1,
      waitedMs: now - lastAt,
      ...(isWhole && row.state === 'ambiguous'
        ? readFacts(row, lastAt)
        : { isLaterListed: false, isReadWhole: false }),
    };
  };
}

/** Writes down what the table says, of rows that have settled; of the others only what is certain already. */
function concludeAll(
  context: OutboxContext,
  evidence: Evidence,
  due: ReadonlySet<number>,
): Map<number, ReconcileResult> {
  const { store, clock } = context;
  const rows = store.unclear();
  const { verdicts, seconds } = ask(store, clock.now(), evidence, rows);
  const results = new Map<number, ReconcileResult>();
  for (const row of rows) {
    const verdict = verdicts.get(row.id);
    const result =
      verdict &&
      (due.has(row.id) ? conclude(context, row, verdict, evidence) : early(context, row, verdict, evidence));
    if (result) results.set(row.id, result);
  }
  for (const [id, posts] of seconds)
    store.noteSeconds({ id, posts: posts.map((post) => post.id), now: clock.now() });
  return results;
}

function early(
  context: OutboxContext,
  row: OutboxRow,
  verdict: Verdict,
  evidence: Evidence,
): ReconcileResult | null {
  if (row.state === 'sending') return null;
  const isCertain = verdict.kind === 'confirmed' && (verdict.how !== 'cut' || row.state !== 'ambiguous');
  if (isCertain) return bind(context, row, verdict);
  return row.state === 'ready' && verdict.kind === 'uncertain'
    ? park(context, row, verdict.posts, evidence)
    : null;
}

function conclude(
  context: OutboxContext,
  row: OutboxRow,
  verdict: Verdict,
  evidence: Evidence,
): ReconcileResult {
  const { store, clock } = context;
  const now = clock.now();
  switch (verdict.kind) {
    case 'confirmed':
      return bind(context, row, verdict);
    case 'uncertain':
      return park(context, row, verdict.posts, evidence);
    case 'wait':
      return waitFor(context, row, 'a post that could be this one may still prove to be another row’s');
    case 'look again':
      context.onWindow?.(whyUnsure(store, row, evidence));
      return waitFor(context, row, whyUnsure(store, row, evidence));
    case 'send again': {
      if (Date.parse(row.changed_at) > now)
        return waitFor(context, row, 'the clock was set back: it settles once more');
      const last = store.attempts(row.id).at(-1);
      if (last?.post_id) return parkNamed(context, row, last);
      const error = 'the list shows no post that could be this one, after an unclear attempt';
      // The checks are for a row whose import was cancelled meanwhile: nothing else comes back to it.
      const change = {
        now,
        notBefore: null,
        notFound: row.not_found + 1,
        error,
        checksIfUnclear: SWEEP_CHECKS,
      };
      store.move(row.id, TRANSITIONS.sendAgain, change);
      return 'send again';
    }
  }
}

function whyUnsure(store: OutboxStore, { not_before }: OutboxRow, { reads }: Evidence): string {
  const isKept = reads.some(({ asOf }) => asOf < Date.parse(not_before ?? ''));
  if (isKept) return 'a cache in between showed the list as it was before this could be listed';
  const why =
    'the list does not show what was sent last to the same board, although the service gave it a number';
  return whyNotWhole(store, reads) ?? why;
}

function waitFor({ store, clock, settleMs }: OutboxContext, { id }: OutboxRow, error: string): 'later' {
  const now = clock.now();
  store.move(id, TRANSITIONS.wait, { now, notBefore: now + settleMs, error });
  return 'later';
}

/** The post is this row's. Null of the store: a person has meanwhile said that it is another row's; the next pass leaves it out. */
export function bind(
  { store, clock }: OutboxContext,
  row: OutboxRow,
  { post, how }: Verdict & { kind: 'confirmed' },
): ReconcileResult {
  const transition = row.state === 'ready' ? TRANSITIONS.adopt : TRANSITIONS.found;
  const outcome = { postId: post.id, url: post.url, matched: how, error: null, checksLeft: SWEEP_CHECKS };
  return store.move(row.id, transition, { now: clock.now(), ...outcome }) ? 'found' : 'later';
}

/** More than a person compares. */
const MOST_CANDIDATES = 5;

/** Only a person can judge. */
export function park(
  { store, clock, observe }: OutboxContext,
  row: OutboxRow,
  posts: readonly ShownPost[],
  { reads }: Evidence = NOTHING,
): ReconcileResult {
  const shown = posts.slice(0, MOST_CANDIDATES);
  observe?.(shown.flatMap(({ id }) => reads.flatMap(({ raw }) => raw.get(id) ?? []).slice(0, 1)));
  const candidates = shown.flatMap(({ id }) => (id >= 0 ? [id] : []));
  const change = {
    now: clock.now(),
    notBefore: null,
    candidates,
    error: whyParked(row, posts),
    checksLeft: SWEEP_CHECKS,
  };
  store.move(row.id, TRANSITIONS.park, change);
  return 'uncertain';
}

function parkNamed(
  { store, clock }: OutboxContext,
  row: OutboxRow,
  { post_id, error }: AttemptRow,
): ReconcileResult {
  const why = `${error ?? `the answer names post ${post_id}`}; the list shows none that could be this one`;
  const change = {
    now: clock.now(),
    notBefore: null,
    candidates: [post_id ?? 0],
    error: why,
    checksLeft: SWEEP_CHECKS,
  };
  store.move(row.id, TRANSITIONS.park, change);
  return 'uncertain';
}

function whyParked(row: OutboxRow, posts: readonly ShownPost[]): string {
  if (posts.length === 0) return `not in the list after ${counted(row.not_found + 1, 'unclear attempt')}`;
  return posts.length === 1 ? '1 post could be this one' : `${posts.length} posts could be this one`;
}

const FIRST_WAIT_MS = 2000;
const LAST_WAIT_MS = 300_000;

/** The list could not be read: the row is left where it is until later. A refused token also pauses sending. */
export function postpone(
  { store, clock, gate, random }: OutboxContext,
  row: OutboxRow,
  transition: Transition,
  error: unknown,
): void {
  const [now, code] = [clock.now(), codeOf(error)];
  if (code === 'interrupted' || code === 'internal' || code === 'storage') throw error;
  if (code === 'unauthorised') store.setPaused(`the upstream refused the token for reading at ${iso(now)}`);
  const notBefore = Math.max(now + backoff(row, now, random), gate.closedUntil(now, 'reads') ?? 0);
  store.move(row.id, transition, { now, notBefore, error: `could not look for it: ${messageOf(error)}` });
}

/** The longer a row has been waiting, the less another minute matters. With equal jitter. */
export function backoff(row: OutboxRow, now: number, random: () => number): number {
  const waited = Math.max(0, now - Date.parse(row.first_sent_at ?? row.created_at));
  const most = Math.min(LAST_WAIT_MS, Math.max(FIRST_WAIT_MS, waited / 10));
  return most / 2 + (random() * most) / 2;
}
