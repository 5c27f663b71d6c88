import type { Arrow } from '../store/outbox/seam.ts';

/**
 * The life of an outbox row, whole. Nothing changes a state except along one of these arrows, each a transaction that
 * checks where the row stands. The README draws the same table; a CHECK in SQL closes the set of states.
 */
export const ARROWS = {
  /** Committed before the first byte of the request. */
  claim: { from: ['ready'], to: 'sending' },
  /** Certain that nothing reached the upstream: not connected, throttled, or refused with 401 or 403. */
  release: { from: ['sending'], to: 'ready' },
  confirm: { from: ['sending'], to: 'confirmed' },
  reject: { from: ['sending'], to: 'rejected' },
  /** The answer is missing or unclear, or we died: the post may exist. */
  doubt: { from: ['sending'], to: 'ambiguous' },
  /** Exactly one post in the list is ours. */
  found: { from: ['ambiguous'], to: 'confirmed' },
  /** The list could not be read: look again later. */
  wait: { from: ['ambiguous'], to: 'ambiguous' },
  /** A row about to be sent again seems to have turned up, and the list cannot be read: look again later. */
  hold: { from: ['ready'], to: 'ready' },
  /** A row about to be sent again has meanwhile turned up in the mirror. */
  recognise: { from: ['ready'], to: 'confirmed' },
  /** Complete reads did not show it: for the first time, or again in a list that shows what we sent later. */
  sendAgain: { from: ['ambiguous'], to: 'ready' },
  /** Several could be ours, also just before it would be sent again, or it is missing again: only a person can tell. */
  giveUp: { from: ['ambiguous', 'ready'], to: 'uncertain' },
  /** A person: it is this post. */
  resolve: { from: ['uncertain'], to: 'confirmed' },
  /** A person: send it again. */
  retry: { from: ['uncertain', 'rejected', 'cancelled'], to: 'ready' },
  /** A person: drop it. */
  cancel: { from: ['ready', 'uncertain', 'rejected'], to: 'cancelled' },
} as const satisfies Record<string, Arrow>;

/** States in which nothing more happens by itself. */
export const FINAL_STATES = ['confirmed', 'rejected', 'uncertain', 'cancelled'] as const;

/** Complete sweeps that look for posts left behind by a row that was once ambiguous. */
export const AFTER_LOOKS = 2;
