import { AppError, codeOf, messageOf } from '../base/errors.ts';
import type { Resource } from '../contract/endpoints.ts';
import type { Lock, Pass, PassEnd, PassMode, PassStart, PassSummary } from '../store/mirror/seam.ts';
import { head } from './head.ts';
import { indexAll } from './index-all.ts';
import type { PassContext } from './pass.ts';
import { type Memory, newSweep, readMemory, readState, type SweepState } from './state.ts';
import { proofOf, type Sweep, sweep, withProof } from './sweep.ts';

export interface SyncRequest {
  resource: Resource;
  mode: PassMode;
  /** A person has seen the deletions that were held back. */
  acceptDeletes?: boolean;
  /** Wait for another process that is at the same list, instead of giving up. */
  wait?: boolean;
}

export type SyncOutcome = { done: true; summary: PassSummary } | { done: false; reason: string };

const LOCK_POLL_MS = 250;

/** One pass over one list, start to end. A failure is written into the log of passes and then thrown. */
export async function syncOnce(context: PassContext, request: SyncRequest): Promise<SyncOutcome> {
  const lock = await takeTurn(context, request);
  try {
    const memory = readMemory(await context.store.memoryOf(request.resource));
    if (request.mode === 'head') return await headPass(context, request, memory);
    const summary = await sweepPass(context, request, memory);
    if (request.resource === 'posts') await indexAll(context);
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
    const lock = await store.lock(resource);
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

async function headPass(
  context: PassContext,
  { resource }: SyncRequest,
  memory: Memory,
): Promise<SyncOutcome> {
  if (memory.order?.direction !== 'desc') {
    const known =
      memory.order === null
        ? 'no complete sweep has shown that the list starts with its newest rows'
        : 'the list starts with its oldest rows';
    return {
      done: false,
      reason: `no head pass over ${resource}: ${known}, so the first pages do not tell what is new; run a sweep`,
    };
  }
  const pass = await context.store.beginPass(await startOf(context, resource, 'head', memory));
  const summary = await recorded(
    context,
    pass,
    () => null,
    async () => {
      const lessons = await head(context, pass, memory);
      return end(context, pass, { conclude: 'nothing', memory: JSON.stringify(lessons) });
    },
  );
  return { done: true, summary };
}

async function sweepPass(
  context: PassContext,
  { resource, acceptDeletes }: SyncRequest,
  memory: Memory,
): Promise<PassSummary> {
  const pass = await context.store.beginPass(await startOf(context, resource, 'sweep', memory));
  const state = pass.state === null ? newSweep(resource, memory) : takenUp(pass.state);
  const under: Sweep = { pass, memory, state, counts: { ...pass.counts } };
  const resumable = (): string | null => {
    if (under.state.previous === null) return null;
    // Whatever is read again counts again.
    Object.assign(pass.counts, under.counts);
    return JSON.stringify(under.state);
  };
  return await recorded(context, pass, resumable, async () => {
    const { conclude, memory: lessons } = await sweep(context, under);
    return {
      ...end(context, pass, { conclude, memory: JSON.stringify(lessons) }),
      acceptDeletes: acceptDeletes ?? false,
    };
  });
}

/** The checkpoint was written with its page, before anyone knew whether that page proved something. */
function takenUp(text: string): SweepState {
  const state = readState(text);
  return { ...state, proofs: withProof(state.proofs, proofOf(state.previous)) };
}

/** The floor is written before the first row of a pass, so that a kill at any point leaves it standing. */
async function startOf(
  { store, clock }: PassContext,
  resource: Resource,
  mode: PassMode,
  memory: Memory,
): Promise<PassStart> {
  const start: PassStart = { resource, mode, now: clock.now(), resume: true };
  if (memory.floor !== null || memory.order === null) return start;
  memory.floor = await store.newestKey(resource, memory.order.by);
  return { ...start, memory: JSON.stringify(memory) };
}

function end(
  { clock }: PassContext,
  pass: Pass,
  rest: Pick<PassEnd, 'conclude'> & { memory: string },
): PassEnd {
  return {
    pass,
    outcome: 'complete',
    now: clock.now(),
    error: null,
    keepState: null,
    acceptDeletes: false,
    ...rest,
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
    return await store.finishPass(await work());
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
      conclude: 'nothing',
      acceptDeletes: false,
    } as const;
    await store.finishPass(failed);
    throw error;
  }
}
