/**
 * The life of an outbox row, whole. Every change of a state anywhere in the program goes along one of these transitions: `next` for one
 * row, `whereAndTo` for a statement about many. docs/operations.md draws the same table; a CHECK in SQL closes the set of states.
 */
export const OUTBOX_STATES = [
  'proposed',
  'ready',
  'sending',
  'confirmed',
  'rejected',
  'ambiguous',
  'uncertain',
  'cancelled',
] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

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
  /** The table of `whose.ts` says which post is the row's; it may turn up just before the row is sent again. */
  found: { from: ['ambiguous', 'uncertain', 'ready'], to: 'confirmed' },
  /** The list could not be read, was read long ago, or shows a post that may still prove to be another row's: reconcile later. */
  recheck: { from: ['ready', 'ambiguous'], to: 'ambiguous' },
  /** The same for a row that is about to be sent again. */
  defer: { from: ['ready'], to: 'ready' },
  /** The list shows no post that could be this row's. */
  sendAgain: { from: ['ambiguous'], to: 'ready' },
  /** Posts could be this row's, also just before it would be sent again, or it stays missing: only a person can tell. */
  park: { from: ['ambiguous', 'ready', 'uncertain'], to: 'uncertain' },
  /** A post that kept the row with a person is another row's: it is decided again. */
  reopen: { from: ['uncertain'], to: 'ambiguous' },
  /** The service shows another post under the number of the row's: only a person can tell whether to send it again. */
  displace: { from: ['confirmed'], to: 'uncertain' },
  /** A person: it is this post. */
  resolve: { from: ['uncertain'], to: 'confirmed' },
  /** A person who named the wrong post: it is another one. */
  correct: { from: ['confirmed'], to: 'confirmed' },
  /** A person: send it again. */
  retry: { from: ['uncertain', 'rejected', 'cancelled'], to: 'ready' },
  /** A person: drop it. */
  cancel: { from: ['proposed', 'ready', 'uncertain', 'rejected'], to: 'cancelled' },
  /** Its import was cancelled while it was on its way: it would be sent again otherwise. */
  stop: { from: ['sending', 'ambiguous'], to: 'cancelled' },
  /** Its person was erased, and its words with them: it can neither be sent nor looked for. `sending` only where no process sends. */
  erase: { from: ['proposed', 'ready', 'sending', 'ambiguous', 'uncertain', 'cancelled'], to: 'cancelled' },
} as const satisfies Record<string, { from: readonly OutboxState[]; to: OutboxState }>;

export type Transition = (typeof TRANSITIONS)[keyof typeof TRANSITIONS];

/** Where a row goes from its state; null where the transition does not begin there. */
export function next(state: OutboxState, { from, to }: Transition): OutboxState | null {
  return (from as readonly OutboxState[]).includes(state) ? to : null;
}

/** The same for one statement about many rows: its SET and its WHERE. */
export function whereAndTo({ from, to }: Transition): { set: string; where: string } {
  return { set: `state = '${to}'`, where: `state IN (${from.map((state) => `'${state}'`).join(', ')})` };
}

/** States in which a person may change what a row says: certainly no post, or a person has to decide anyway. */
export const EDITABLE = ['proposed', 'rejected', 'uncertain'] as const;

/** States in which nothing more happens by itself. */
export const FINAL_STATES = ['proposed', 'confirmed', 'rejected', 'uncertain', 'cancelled'] as const;

/** Complete sweeps that look for further posts of a row that was once ambiguous. */
export const SWEEP_CHECKS = 2;
