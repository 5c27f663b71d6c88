import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { OutboxStore } from '../store/outbox/store.ts';
import type { OutboxRow, RowChange, Transition } from '../store/outbox/types.ts';
import { SWEEP_CHECKS } from './push.ts';
import { TRANSITIONS } from './states.ts';

interface Desk {
  store: OutboxStore;
  clock: Clock;
}

/** A person: send it again. */
export function retry({ store, clock }: Desk, id: number): OutboxRow {
  const change = { now: clock.now(), notBefore: null, notFound: 0, candidates: [], error: null };
  return decide(store, id, 'sent again', TRANSITIONS.retry, change);
}

/** A person: drop it. */
export function cancel({ store, clock }: Desk, id: number): OutboxRow {
  return decide(store, id, 'cancelled', TRANSITIONS.cancel, { now: clock.now() });
}

/** A person: it is this post. */
export function resolve(
  { store, clock }: Desk,
  id: number,
  post: { id: number; url: string | null },
): OutboxRow {
  if (store.boundPosts([post.id]).has(post.id))
    throw new AppError('usage', `post ${post.id} already confirms another row of the outbox`, {
      hint: 'One post can be the outcome of one row only.',
    });
  const { id: postId, url } = post;
  const change = { now: clock.now(), postId, url, error: null, checksLeft: SWEEP_CHECKS };
  return decide(store, id, 'resolved', TRANSITIONS.resolve, change);
}

function decide(
  store: OutboxStore,
  id: number,
  wish: string,
  transition: Transition,
  change: RowChange,
): OutboxRow {
  const row = store.find(id);
  if (!row) throw noRow(id);
  const moved = store.move(id, transition, change);
  if (moved) return moved;
  const now = store.find(id) ?? row;
  if (now.erased_at !== null && transition.to === 'ready')
    throw new AppError('usage', `row ${id} cannot be ${wish}: its text was erased`, {
      hint: 'Create the post anew, if the person agrees.',
    });
  throw new AppError('usage', `row ${id} cannot be ${wish}: it is ${STATE_WORDS[now.state]}`, {
    hint: `Only a row that is ${transition.from.join(' or ')} can be.`,
  });
}

export function noRow(id: number): AppError {
  return new AppError('usage', `there is no row ${id} in the outbox`, {
    hint: 'See them with "feedback-mirror outbox list".',
  });
}

const STATE_WORDS: Record<OutboxRow['state'], string> = {
  ready: 'ready and waits to be sent',
  sending: 'being sent just now',
  confirmed: 'confirmed already',
  rejected: 'rejected by the upstream',
  ambiguous: 'ambiguous, and will be looked for by itself',
  uncertain: 'uncertain',
  cancelled: 'cancelled',
};
