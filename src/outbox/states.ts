import type { OutboxState, Transition } from '../store/outbox/types.ts';

/**
 * The life of an outbox row, whole. Nothing changes a state except along one of these transitions, each a transaction that
 * checks where the row stands. docs/operations.md draws the same table; a CHECK in SQL closes the set of states.
 */
export const TRANSITIONS = {
  /** A person: what an agent proposed may be sent. */
  approve: { from: ['proposed'], to: 'ready' },
  /** Committed before the first byte of the request. */
  claim: { from: ['ready'], to: 'sending' },
  /** Certain that nothing reached the upstream: not connected, throttled, or refused with 401 or 403. */
  release: { from: ['sending'], to: 'ready' },
  confirm: { from: ['sending'], to: 'confirmed' },
  reject: { from: ['sending'], to: 'rejected' },
  /** The answer is missing or unclear, or the sender died: the post may exist. */
  markAmbiguous: { from: ['sending'], to: 'ambiguous' },
  /** A post that nothing else accounts for is clearly this one. */
  found: { from: ['ambiguous'], to: 'confirmed' },
  /** The list could not be read, or shows a post that may still prove to be another row's: reconcile later. */
  wait: { from: ['ambiguous'], to: 'ambiguous' },
  /** The same for a row that is about to be sent again. */
  defer: { from: ['ready'], to: 'ready' },
  /** It could not be sent again soon after the list was read: the list is read once more. */
  recheck: { from: ['ready'], to: 'ambiguous' },
  /** The post of a row that is about to be sent again has meanwhile turned up. */
  adopt: { from: ['ready'], to: 'confirmed' },
  /** Complete reads left no post unaccounted for: for the first time, or again in a list that shows what we sent later. */
  sendAgain: { from: ['ambiguous'], to: 'ready' },
  /** Unaccounted posts could be this one, also just before it would be sent again, or it is missing again: only a person can tell. */
  park: { from: ['ambiguous', 'ready'], to: 'uncertain' },
  /** The service has lost its post, and given the number to another one: only a person can tell whether to send it again. */
  displace: { from: ['confirmed'], to: 'uncertain' },
  /** A person: it is this post. */
  resolve: { from: ['uncertain'], to: 'confirmed' },
  /** A person who named the wrong post: it is another one. */
  correct: { from: ['confirmed'], to: 'confirmed' },
  /** A person: send it again. */
  retry: { from: ['uncertain', 'rejected', 'cancelled'], to: 'ready' },
  /** A person: drop it. */
  cancel: { from: ['proposed', 'ready', 'uncertain', 'rejected'], to: 'cancelled' },
} as const satisfies Record<string, Transition>;

/** States in which a person may change what a row says: certainly no post, or a person has to decide anyway. */
export const EDITABLE = ['proposed', 'rejected', 'uncertain'] as const;

/** States in which nothing more happens by itself. */
export const FINAL_STATES = ['proposed', 'confirmed', 'rejected', 'uncertain', 'cancelled'] as const;

/** It asks for no post, but one that is clearly its own, of an unclear attempt, is not another row's. */
export function isResting({ state }: { state: OutboxState }): boolean {
  return FINAL_STATES.some((final) => final === state);
}

/** Complete sweeps that check for posts left behind by a row that was once ambiguous. */
export const SWEEP_CHECKS = 2;

/** A row that lost its post: from now on it is looked for before it is sent, as one whose answer was unclear, and checked afterwards. */
export function displaced(now: number, post: number) {
  const error = `the service shows another post under the number of this one, ${post}`;
  return { now, notBefore: null, error, checksLeft: SWEEP_CHECKS, wasAmbiguous: true } as const;
}
