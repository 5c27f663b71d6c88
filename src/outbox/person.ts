import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { checkDraft, type Draft } from './create.ts';
import { EDITABLE, next, TRANSITIONS } from './decide/states.ts';
import type { Edit, OutboxRow, OutboxState, PostText, RowChange, Transition } from './decide/types.ts';
import { contentHash } from './decide/whose.ts';
import type { OutboxStore } from './store/store.ts';

export interface DecisionDeps {
  store: OutboxStore;
  clock: Clock;
}

/** A person: what an agent proposed may be sent. */
export function approve({ store, clock }: DecisionDeps, id: number): OutboxRow {
  return decide(store, id, 'approved', TRANSITIONS.approve, { now: clock.now() });
}

/** A person: send it again. The list is read before it goes. */
export function retry({ store, clock }: DecisionDeps, id: number): OutboxRow {
  return decide(store, id, 'sent again', TRANSITIONS.retry, freshStart(clock.now()));
}

/** A person: send it with the words that it was just given. */
export function sendEdited(deps: DecisionDeps, { id, state }: OutboxRow): OutboxRow {
  return state === 'proposed' ? approve(deps, id) : retry(deps, id);
}

/** A row that a person sends again keeps its candidates: one of them may be its post. */
function freshStart(now: number): RowChange {
  return { now, notBefore: null, notFound: 0, error: null };
}

/** A person: drop it. */
export function cancel({ store, clock }: DecisionDeps, id: number): OutboxRow {
  return decide(store, id, 'cancelled', TRANSITIONS.cancel, dropped(clock.now()));
}

/** An unclear attempt before may have left a post all the same. */
function dropped(now: number): RowChange {
  return { now };
}

/** A person: it is this post. */
export function resolve(
  { store, clock }: DecisionDeps,
  id: number,
  post: { id: number; url: string | null },
): OutboxRow {
  if (store.boundPosts([post.id]).has(post.id))
    throw new AppError('usage', `post ${post.id} already confirms another row of the outbox`, {
      hint: 'One post can be the outcome of one row only.',
    });
  const { id: postId, url } = post;
  const change = { now: clock.now(), postId, url, matched: 'person', error: null };
  const row = store.find(id);
  const isCorrected = row?.state === 'confirmed' && row.matched === 'person';
  return decide(store, id, 'resolved', isCorrected ? TRANSITIONS.correct : TRANSITIONS.resolve, change);
}

/** A person: it should say this instead. Only what is given changes; what it said before is kept. It is not sent by that. */
export function edit({ store, clock }: DecisionDeps, id: number, changes: Draft): OutboxRow {
  const row = store.find(id);
  if (!row) throw noRow(id);
  const edited = store.edit(editOf(row, changes, clock));
  if (edited) return edited;
  if (row.erased_at !== null) throw new AppError('usage', `row ${id} cannot be edited: its text was erased`);
  throw new AppError('usage', `row ${id} cannot be edited: it is ${STATE_WORDS[row.state]}`, {
    hint: `Only a row that is ${EDITABLE.join(' or ')} can be: what was sent cannot be changed through this API.`,
  });
}

function editOf(row: OutboxRow, changes: Draft, clock: Clock): Edit {
  const post = mended(row, changes);
  return { id: row.id, from: EDITABLE, post, content_hash: contentHash(post), now: clock.now() };
}

/** Blank words take an optional field away: without an e-mail the post goes out as the owner's. */
function mended(row: OutboxRow, changes: Draft): PostText {
  const { board, title, content } = row;
  const person = { email: row.email ?? undefined, full_name: row.full_name ?? undefined };
  const given = Object.fromEntries(Object.entries(changes).filter(([, text]) => text !== undefined));
  const draft: Draft = { board, title, content, ...person, ...given };
  return checkDraft(draft.email?.trim() ? draft : { ...draft, email: undefined, full_name: undefined }).post;
}

/** What a decision about a batch did. */
export interface BatchDecision {
  batch: string;
  /** Rows that it changed, or that wait in it. */
  rows: number;
}

export interface PauseDecision extends BatchDecision {
  /** Rows that are on their way: they are brought to their end. */
  sending: number;
}

/** A person: send nothing more of this import for now. */
export function pauseBatch({ store, clock }: DecisionDeps, batch: string): PauseDecision {
  requireBatch(store, batch);
  const rows = store.pauseBatch(batch, clock.now());
  return { batch, rows, sending: store.counts(batch).sending };
}

export function resumeBatch({ store, clock }: DecisionDeps, batch: string): BatchDecision {
  requireBatch(store, batch);
  if (store.batch(batch)?.cancelled_at)
    throw new AppError('usage', `batch ${batch} was cancelled, and cannot be resumed`, {
      hint: 'Its rows can be sent again: "feedback-mirror outbox retry --batch B --state cancelled".',
    });
  return { batch, rows: store.resumeBatch(batch, clock.now()) };
}

/** Rows of one transaction. Other writers and requests of the service wait for no more than these. */
const ROWS_AT_ONCE = 500;

/**
 * A person: send nothing more of this import. What was sent stays, and a row that is on its way is brought to its end. From the first
 * transaction on nothing is claimed, so a process that dies in the middle leaves nothing that would still be sent.
 */
export async function cancelBatch(
  { store, clock }: DecisionDeps,
  batch: string,
  state: OutboxState = 'ready',
): Promise<BatchDecision> {
  requireBatch(store, batch);
  requireStart(TRANSITIONS.cancel, state, 'cancelled');
  if (state === 'ready') store.stopBatch(batch, clock.now());
  const rows = await inGroups(store.idsOf(batch, state), (ids) =>
    store.moveAll(ids, TRANSITIONS.cancel, dropped(clock.now())),
  );
  return { batch, rows };
}

/** Goes on with what a process that died in the middle of it left. */
export function finishCancelling({ store, clock }: DecisionDeps): Promise<number> {
  return inGroups(store.cancelledWaiting(), (ids) =>
    store.moveAll(ids, TRANSITIONS.cancel, dropped(clock.now())),
  );
}

/** A person: send these rows of the import again. */
export async function retryBatch(
  { store, clock }: DecisionDeps,
  batch: string,
  state: OutboxState = 'rejected',
): Promise<BatchDecision> {
  requireBatch(store, batch);
  requireStart(TRANSITIONS.retry, state, 'sent again');
  store.reopenBatch(batch, clock.now());
  const rows = await inGroups(store.idsOf(batch, state), (ids) =>
    store.moveAll(ids, TRANSITIONS.retry, freshStart(clock.now())),
  );
  return { batch, rows };
}

/** A person: all rows of the import that have this value should have another; only those that can be edited. */
export async function editBatch(
  { store, clock }: DecisionDeps,
  batch: string,
  where: Partial<Record<keyof PostText, string>>,
  changes: Draft & { isSentAgain?: boolean },
): Promise<BatchDecision> {
  const { isSentAgain = false, ...words } = changes;
  requireBatch(store, batch);
  const isMeant = (row: OutboxRow): boolean =>
    Object.entries(where).every(([field, text]) => (row[field as keyof PostText] ?? '') === text);
  if (isSentAgain) store.reopenBatch(batch, clock.now());
  const editable = EDITABLE.flatMap((state) => store.idsOf(batch, state));
  const rows = await inGroups(editable, (ids) => {
    const meant = ids.flatMap((id) => store.find(id) ?? []).filter(isMeant);
    const edits = meant.filter(({ erased_at }) => erased_at === null).map((row) => editOf(row, words, clock));
    const edited = store.editAll(edits);
    if (isSentAgain) store.moveAll(edited, TRANSITIONS.retry, freshStart(clock.now()));
    return edited.length;
  });
  return { batch, rows };
}

/** Requests that came meanwhile are answered between two groups. */
async function inGroups(ids: readonly number[], work: (ids: readonly number[]) => number): Promise<number> {
  let changed = 0;
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    changed += work(ids.slice(at, at + ROWS_AT_ONCE));
    await setImmediate();
  }
  return changed;
}

export function requireBatch(store: Pick<OutboxStore, 'hasBatch'> | null, batch: string): void {
  if (store?.hasBatch(batch)) return;
  throw new AppError('usage', `there is no batch ${batch} in the outbox`, {
    hint: 'See them with "feedback-mirror outbox list".',
  });
}

function requireStart(transition: Transition, state: OutboxState, wish: string): void {
  const { from } = transition;
  if (next(state, transition)) return;
  throw new AppError('usage', `rows that are ${STATE_WORDS[state]} cannot be ${wish}`, {
    hint: `Rows that are ${from.join(' or ')} can be.`,
  });
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
      hint: 'Create the post again, if the person agrees.',
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
  proposed: 'proposed by an agent and waits for approval',
  ready: 'ready and waits to be sent',
  sending: 'being sent just now',
  confirmed: 'confirmed already',
  rejected: 'rejected by the upstream',
  ambiguous: 'ambiguous, and will be looked for by itself',
  uncertain: 'uncertain',
  cancelled: 'cancelled',
};
