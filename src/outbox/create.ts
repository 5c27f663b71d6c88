import { hash, randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { OutboxRow, OutboxState, PostText } from './decide/types.ts';
import { type AcceptedRow, FIELDS, type Field, rowChecker } from './import/csv/rows.ts';
import { newRow } from './import/intake.ts';
import type { OutboxStore } from './store/store.ts';

export interface CreateDeps {
  store: OutboxStore;
  clock: Clock;
  random: () => number;
}

/** The fields of one post as a person gave them; what is missing is blank. */
export type Draft = Partial<Record<Exclude<Field, 'key'>, string | undefined>>;

/** The same rules as for a row of a file. */
export function checkDraft(draft: Draft): AcceptedRow {
  const given: Partial<Record<Field, string | undefined>> = draft;
  const mapping = FIELDS.map((field, index) => ({ field, header: field, index, how: 'exact' as const }));
  const check = rowChecker({ headers: FIELDS, mapping, board: undefined, writtenBoardAt: -1, keyPrefix: '' });
  const row = check({ line: 1, cells: FIELDS.map((field) => given[field] ?? '') });
  if (!row.ok) throw new AppError('usage', `this is no post: ${row.reason}`);
  return row;
}

/** One post of a person into the outbox. Each call is a post of its own, also with the same words. */
export function createRow(deps: CreateDeps, { post }: Pick<AcceptedRow, 'post'>): OutboxRow {
  const row = acceptOne(deps, post, 'create', `create:${randomUUID()}`);
  if (!row) throw new Error('a key that was just made is taken');
  return row;
}

/**
 * One post of a program into the outbox, word for word. Under a key of the program's own the same post is taken once, however often
 * it is handed over; null where the key already belongs to another post. Without a key each call is a post of its own.
 */
export function acceptPost(deps: CreateDeps, post: PostText, key: string | null): OutboxRow | null {
  return acceptOne(deps, post, 'api', key === null ? `create:${randomUUID()}` : `api:${key}`);
}

/**
 * One post that an agent proposes: nothing sends it before a person approves it. The same words are one row, also when a person has
 * dropped it, so that an agent that asks again gets the same answer.
 */
export function proposePost(deps: CreateDeps, post: PostText): OutboxRow {
  const words = [post.board, post.title, post.content].map((text) => text.normalize('NFC'));
  const key = hash('sha256', JSON.stringify(words), 'base64url');
  const row = acceptOne(deps, post, 'agent', `agent:${key}`);
  if (!row) throw new Error('a key that is made of the words belongs to other words');
  return row;
}

function acceptOne(
  { store, clock, random }: CreateDeps,
  post: PostText,
  kind: 'create' | 'api' | 'agent',
  sourceKey: string,
): OutboxRow | null {
  const now = clock.now();
  const row = {
    ...newRow({ line: 1, post }, { source_key: sourceKey }, batchId(kind, now, random)),
    line: null,
    ...(kind === 'agent' ? { isProposed: true as const } : {}),
  };
  const [taken] = store.accept([row], now);
  if (!taken || taken.outcome === 'conflict') return null;
  const found = store.find(taken.id);
  if (!found) throw new Error('a row that was just accepted is gone');
  return found;
}

/** `import-20261115-014207-ab12cd`: in the order of time, told apart when two begin in the same second. */
export function batchId(
  kind: 'import' | 'create' | 'api' | 'agent',
  now: number,
  random: () => number,
): string {
  const [day, time] = new Date(now).toISOString().replaceAll(/[-:]/g, '').slice(0, 15).split('T');
  const tail = Math.floor(random() * 36 ** 6)
    .toString(36)
    .padStart(6, '0');
  return `${kind}-${day}-${time}-${tail}`;
}

const UNDER_WAY: readonly OutboxState[] = ['ready', 'sending', 'ambiguous'];
const POLL_MS = 50;

/** Waits until the row is final or needs a person, until the time is up, or until the signal. Returns the row. */
export async function waitForRow(
  { store, clock }: Pick<CreateDeps, 'store' | 'clock'>,
  row: OutboxRow,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<OutboxRow> {
  const deadline = clock.monotonic() + waitMs;
  let latest = row;
  while (UNDER_WAY.includes(latest.state) && clock.monotonic() < deadline && !signal.aborted) {
    await clock.sleep(Math.min(POLL_MS, deadline - clock.monotonic()), signal).catch(() => undefined);
    latest = store.find(row.id) ?? latest;
  }
  return latest;
}
