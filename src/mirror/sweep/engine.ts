import { AppError, codeOf, messageOf } from '../../base/errors.ts';
import { traced } from '../../base/tracing.ts';
import type { Resource } from '../../contract/endpoints.ts';
import type { Lock } from '../../db/lock.ts';
import { type ListFacts, readFacts } from '../decide/list-facts.ts';
import type { Pass, PassEnd, PassMode, PassSummary } from '../decide/types.ts';
import { readHead } from './head.ts';
import { indexAll, type PassContext } from './pages.ts';
import { NEW_SWEEP, type Sweep, type SweepState } from './state.ts';
import { LostPlace, sweep } from './sweep.ts';

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
  const facts = factsOf(context, resource);
  const reason = whyNoHead(facts);
  if (reason !== null) return { done: false, reason: `no head pass over ${resource}: ${reason}` };
  const pass = context.store.beginPass({ resource, mode: 'head', now: context.clock.now(), resume: false });
  const work = async () => ({ learned: JSON.stringify(await readHead(context, pass, facts)) });
  return { done: true, summary: await recorded(context, pass, () => null, work) };
}

function whyNoHead({ readAt, newRows }: ListFacts): string | null {
  if (readAt === null) return 'no sweep has been complete yet; run a sweep';
  if (newRows === 'elsewhere') return 'new rows do not come at the start of this list; sweeps find them';
  return null;
}

/**
 * A complete sweep has read every row since the command began. A resumed sweep has not. It is concluded at its end all the same, so that a
 * list which takes longer than any process lives is finished too. Then the list is read again, from its start down to the first rows that
 * this process read. If that is interrupted, the next process goes on with it.
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
  { resource, acceptDeletes = false }: SyncRequest,
  now: number,
  until: ReadonlySet<number> | null,
): Promise<{ summary: PassSummary; began: ReadonlySet<number> }> {
  const facts = factsOf(context, resource);
  const pass = context.store.beginPass({ resource, mode: 'sweep', now, resume: true });
  const state = pass.state === null ? NEW_SWEEP : (JSON.parse(pass.state) as SweepState);
  const under: Sweep = { pass, facts, state, counts: { ...pass.counts } };
  const resumable = (): string | null => {
    if (under.state.cursor === '') return null;
    // Whatever is read again counts again.
    Object.assign(pass.counts, under.counts);
    return JSON.stringify(under.state);
  };
  let shown: ReadonlySet<number> = new Set();
  const summary = await recorded(context, pass, resumable, async () => {
    const { began, verdict, lacks, facts } = await sweep(context, under, until);
    shown = began;
    const outcome = lacks === null ? 'complete' : 'incomplete';
    return { outcome, error: lacks, verdict, acceptDeletes, learned: JSON.stringify(facts) };
  });
  return { summary, began: shown };
}

function factsOf({ store }: PassContext, resource: Resource): ListFacts {
  return readFacts(store.learnedOf(resource));
}

/** Runs a pass to its end in the log, whichever end that is. */
async function recorded(
  { store, clock }: PassContext,
  pass: Pass,
  resumable: () => string | null,
  work: () => Promise<Partial<PassEnd>>,
): Promise<PassSummary> {
  const end = (rest: Partial<PassEnd>): PassSummary =>
    store.finishPass({ pass, now: clock.now(), outcome: 'complete', ...rest });
  try {
    return end(await work());
  } catch (error) {
    const code = codeOf(error);
    const outcome = code === 'interrupted' ? 'interrupted' : 'failed';
    // An answer that makes no sense at this place may make sense from the start; everything else goes on where it stopped.
    const keepState = code === 'protocol' || code === 'refused' ? null : resumable();
    end({ outcome, error: messageOf(error), code, keepState });
    throw error;
  }
}
