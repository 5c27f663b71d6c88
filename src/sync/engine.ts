import { AppError, codeOf, messageOf } from '../base/errors.ts';
import { traced } from '../base/tracing.ts';
import type { Resource } from '../contract/endpoints.ts';
import type {
  Conclusion,
  Lock,
  Pass,
  PassEnd,
  PassMode,
  PassStart,
  PassSummary,
} from '../store/mirror/types.ts';
import { head } from './head.ts';
import { indexAll, type PassContext } from './pages.ts';
import { type Learned, newSweep, readLearned, type Sweep, type SweepState } from './state.ts';
import { type Beginning, LostPlace, NOWHERE, sweep } from './sweep.ts';

export interface SyncRequest {
  resource: Resource;
  mode: PassMode;
  /** A person has seen the deletions that the mass-delete guard holds. */
  acceptDeletes?: boolean;
  /** Wait for another process that has the list locked, instead of giving up. */
  wait?: boolean;
}

export type SyncOutcome = { done: true; summary: PassSummary } | { done: false; reason: string };

const LOCK_POLL_MS = 250;

/** One pass over one list, start to end. A failure is written into the log of passes and then thrown. */
export async function syncOnce(context: PassContext, request: SyncRequest): Promise<SyncOutcome> {
  const { resource, mode } = request;
  return await traced(`sync ${resource} ${mode}`, { resource, mode }, async (tell) => {
    const outcome = await pass(context, request);
    if (outcome.done) {
      const { rows, inserted, updated, deleted } = outcome.summary;
      tell({ rows, inserted, updated, deleted });
    }
    return outcome;
  });
}

async function pass(context: PassContext, request: SyncRequest): Promise<SyncOutcome> {
  const lock = await takeTurn(context, request);
  try {
    if (request.mode === 'head') return await headPass(context, request);
    const summary = await wholeSweep(context, request);
    await indexAll(context, request.resource);
    return { done: true, summary };
  } finally {
    lock.release();
  }
}

async function takeTurn(
  { store, clock, signal, onWait }: PassContext,
  { resource, wait }: SyncRequest,
): Promise<Lock> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    const lock = store.lock(resource);
    if (lock.ok) return lock;
    if (!wait) {
      throw new AppError('busy', `another pass over ${resource} is under way: ${lock.holder}`, {
        hint: 'Wait for it to end, or run again with --wait.',
      });
    }
    if (attempt === 1) onWait?.(lock.holder);
    await clock.sleep(LOCK_POLL_MS, signal);
  }
}

async function headPass(context: PassContext, { resource }: SyncRequest): Promise<SyncOutcome> {
  const learned = learnedOf(context, resource);
  if (learned.order?.direction !== 'desc') {
    const known =
      learned.order === null
        ? 'no complete sweep has shown that the list starts with its newest rows'
        : 'the list starts with its oldest rows';
    return {
      done: false,
      reason: `no head pass over ${resource}: ${known}, so the first pages do not tell what is new; run a sweep`,
    };
  }
  const start = { resource, mode: 'head', now: context.clock.now() } as const;
  const { pass, learned: standing } = beginPass(context, start, learned);
  const summary = await recorded(
    context,
    pass,
    () => null,
    async () => end(context, pass, await head(context, pass, standing)),
  );
  return { done: true, summary };
}

/**
 * A sweep that ends as complete has read every row since the command began. One that goes on where an earlier process was interrupted
 * has not: it is concluded when it reaches the end, so that a list which takes longer than any process lives is still finished, and
 * then the list is read once more from its start down to the first rows that this process read. If that is interrupted, it is the
 * sweep that the next process goes on with.
 */
async function wholeSweep(context: PassContext, request: SyncRequest): Promise<PassSummary> {
  const began = context.clock.now();
  const begin = () => sweepPass(context, request, began, null);
  const first = await begin().catch((error: unknown) => {
    if (error instanceof LostPlace) return begin();
    throw error;
  });
  if (first.summary.resumed === 0) return first.summary;
  const { summary } = await sweepPass(context, request, began, first.began);
  return together(first.summary, summary);
}

function together(first: PassSummary, second: PassSummary): PassSummary {
  const sum = { ...second, resumed: first.resumed, deleted: first.deleted + second.deleted };
  for (const count of ['pages', 'rows', 'inserted', 'updated', 'unchanged', 'quarantined'] as const)
    sum[count] += first[count];
  return sum;
}

async function sweepPass(
  context: PassContext,
  { resource, acceptDeletes }: SyncRequest,
  now: number,
  before: Beginning | null,
): Promise<{ summary: PassSummary; began: Beginning }> {
  const known = learnedOf(context, resource);
  const { pass, learned } = beginPass(context, { resource, mode: 'sweep', now }, known);
  const state = pass.state === null ? newSweep(resource, learned) : (JSON.parse(pass.state) as SweepState);
  const under: Sweep = { pass, learned, state, counts: { ...pass.counts } };
  const resumable = (): string | null => {
    if (under.state.previous === null) return null;
    // Whatever is read again counts again.
    Object.assign(pass.counts, under.counts);
    return JSON.stringify(under.state);
  };
  // Without an order rows may stand anywhere, and the list is read to its end once more.
  const until = before && (learned.order ? before : NOWHERE);
  let shown = NOWHERE;
  const summary = await recorded(context, pass, resumable, async () => {
    const { began, ...rest } = await sweep(context, under, until);
    shown = began;
    return { ...end(context, pass, rest), acceptDeletes: acceptDeletes ?? false };
  });
  return { summary, began: shown };
}

function learnedOf({ store }: PassContext, resource: Resource): Learned {
  return readLearned(store.learnedOf(resource));
}

/** The high-water mark is written before the first row of a pass, so that a kill at any point leaves it standing. */
function beginPass(
  { store }: PassContext,
  start: Omit<PassStart, 'resume'>,
  known: Learned,
): { pass: Pass; learned: Learned } {
  const isMarked = known.highWater !== null || known.order === null;
  const highWater = isMarked ? known.highWater : store.newestKey(start.resource, known.order?.by ?? 'id');
  const learned = { ...known, highWater };
  const changed = isMarked ? {} : { learned: JSON.stringify(learned) };
  return { pass: store.beginPass({ ...start, resume: true, ...changed }), learned };
}

function end(
  { clock }: PassContext,
  pass: Pass,
  { conclusion, learned }: { conclusion: Conclusion | null; learned: Learned },
): PassEnd {
  return {
    pass,
    outcome: 'complete',
    now: clock.now(),
    error: null,
    keepState: null,
    acceptDeletes: false,
    conclusion,
    learned: JSON.stringify(learned),
  };
}

/** Runs a pass to its end in the log, whichever end that is. */
async function recorded(
  { store, clock }: PassContext,
  pass: Pass,
  resumable: () => string | null,
  work: () => Promise<PassEnd>,
): Promise<PassSummary> {
  try {
    return store.finishPass(await work());
  } catch (error) {
    const code = codeOf(error);
    const outcome = code === 'interrupted' ? 'interrupted' : 'failed';
    // An answer that makes no sense at this place may make sense from the start; everything else goes on where it stopped.
    const keepState = code === 'protocol' || code === 'refused' ? null : resumable();
    const failed = {
      pass,
      outcome,
      now: clock.now(),
      error: messageOf(error),
      keepState,
      conclusion: null,
      acceptDeletes: false,
    } as const;
    store.finishPass(failed);
    throw error;
  }
}
