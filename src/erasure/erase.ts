import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { ErasedCounts, ErasureStep, ErasureWalk, Person } from '../mirror/suppression/person.ts';
import { isAddress } from '../text/email.ts';
import type { ErasureStore, FoundPerson, PersonKey } from './store/store.ts';

interface ErasureContext {
  store: ErasureStore;
  clock: Clock;
  signal: AbortSignal;
  /** Rewrites the file, so that nothing is left in its unused parts; false when the log could not be emptied. */
  compact(signal: AbortSignal): Promise<boolean>;
}

export interface Erased {
  /** Tells this erasure from others without telling whose it was. */
  receipt: string;
  erasedAt: string;
  isNew: boolean;
  counts: ErasedCounts;
  /** The person's rows of the outbox that were still on their way out in the end. */
  underWay: number[];
  /** Rows of the outbox that contain the address, belong to another person and are not settled. */
  unsettled: number[];
  /** Old versions of posts that do not say whose words they hold: some may be the person's. */
  unknownAuthors: number;
  isClean: boolean;
}

/** A create takes at most so long. After that the sender has recorded its outcome. */
const SENDING_MS = 45_000;
const LOOK_MS = 250;

/** Removes a person from everything the mirror's file holds, and keeps them from coming back. Running it again finishes what was interrupted. */
export async function erasePerson(context: ErasureContext, whom: PersonKey): Promise<Erased> {
  const { store, clock, signal } = context;
  checkAddress(whom);
  const began = clock.now();
  const person = store.suppress(whom, began);
  const counts: ErasedCounts = { ...NOTHING, users: person.erasedUsers };
  let left = await walkAll(context, person, counts);
  while (left.underWay.length > 0 && clock.now() - began < SENDING_MS) {
    const orphans = store.eraseOrphans(left.underWay, clock.now());
    add(counts, { outbox: orphans, unclear: orphans });
    if (orphans === 0) await clock.sleep(LOOK_MS, signal);
    left = await walkAll(context, person, counts);
  }
  signal.throwIfAborted();
  const isClean = await context.compact(signal);
  const { hash, isNew } = person;
  return {
    receipt: hash.slice(0, 16),
    erasedAt: new Date(began).toISOString(),
    isNew,
    counts,
    ...left,
    unknownAuthors: store.unknownAuthors(),
    isClean,
  };
}

export interface ErasurePreview extends FoundPerson {
  counts: ErasedCounts;
  unsettled: number[];
}

/** What `erasePerson` would erase now. Nothing is changed. */
export async function previewErasure(context: ErasureContext, whom: PersonKey): Promise<ErasurePreview> {
  checkAddress(whom);
  const found = context.store.find(whom);
  const counts: ErasedCounts = { ...NOTHING, users: found.namedUsers };
  const left = await walkAll(context, found, counts, 'preview');
  // Rows that are being sent are waited for and then erased like the others.
  add(counts, { outbox: left.underWay.length });
  return { ...found, counts, unsettled: left.unsettled };
}

/** Ends the suppression: the next sweep brings back what the upstream shows. */
export function liftSuppression(store: ErasureStore, whom: PersonKey): boolean {
  checkAddress(whom);
  return store.lift(whom);
}

const NOTHING: ErasedCounts = {
  users: 0,
  posts: 0,
  comments: 0,
  quarantine: 0,
  outbox: 0,
  cancelled: 0,
  unclear: 0,
  segments: 0,
  mentions: 0,
};

async function walkAll(
  { store, clock, signal }: ErasureContext,
  person: Person,
  counts: ErasedCounts,
  how: 'erase' | 'preview' = 'erase',
): Promise<Pick<Erased, 'underWay' | 'unsettled'>> {
  const left = { underWay: [] as number[], unsettled: [] as number[] };
  let walk: ErasureWalk | null = null;
  do {
    signal.throwIfAborted();
    const step: ErasureStep = store[how](person, walk, clock.now());
    add(counts, step.counts);
    left.underWay.push(...step.underWay);
    left.unsettled.push(...step.unsettled);
    walk = step.next;
    // Others in this process have their turn between two pieces.
    await setImmediate();
  } while (walk !== null);
  return left;
}

function add(counts: ErasedCounts, more: Partial<ErasedCounts>): void {
  for (const [key, n] of Object.entries(more)) counts[key as keyof ErasedCounts] += n;
}

function checkAddress(whom: PersonKey): void {
  if (typeof whom === 'number' || isAddress(whom)) return;
  throw new AppError('usage', '--email is no e-mail address', { hint: 'It looks like ada@example.com.' });
}
