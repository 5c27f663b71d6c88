import type { Busy, Lock } from '../mirror/seam.ts';

/** The outbox as flows see it: every method is one transaction that has reached the disk when its promise resolves. */
export interface OutboxStore {
  /**
   * Takes rows in; each is either accepted, already there, or in conflict with a row of the same key and other content. Rejects, and
   * takes none, where one of them is for a person who was erased.
   */
  accept(rows: readonly NewRow[], now: number): Promise<Acceptance[]>;
  /** One arrow of the state machine; null when the row is in no state the arrow starts from, or its post confirms another row. */
  move(id: number, arrow: Arrow, change: RowChange): Promise<OutboxRow | null>;
  /** The row goes out: state, attempt, deadline and baseline stand on disk before this resolves. */
  claim(claim: Claim): Promise<OutboxRow | Refusal>;
  /** Why `claim` would be refused now; null when it would not. */
  refusal(id: number, now: number): Promise<Refusal | null>;
  /** The end of an attempt and where its row goes from there, together; null, and nothing written, where `move` would refuse. */
  endAttempt(end: AttemptEnd): Promise<OutboxRow | null>;
  /** Rows left in `sending` by a sender that died; only for whoever holds the sender's lock. */
  orphans(): Promise<OutboxRow[]>;
  /** Whether nothing more happens by itself to these rows. */
  isOver(batch: string | null): Promise<boolean>;
  /**
   * The next row of the batch to send, or the next row to reconcile, and when, in the order they became due. Rows to reconcile are
   * of any batch: one of them may be the twin that a row of this batch waits for.
   */
  next(now: number, batch: string | null): Promise<Next>;
  /** What is due now, each kind in the order of `next` and at most `limit` of it; a row whose twin is under way is not. */
  due(now: number, limit: number): Promise<Due>;
  find(id: number): Promise<OutboxRow | null>;
  list(filter: RowFilter): Promise<OutboxRow[]>;
  attempts(id: number): Promise<AttemptRow[]>;
  counts(batch: string | null): Promise<StateCounts>;
  /** Posts of the mirror, also deleted ones, that have the words of this title and content; to be compared by the caller. */
  lookalikes(words: Words): Promise<MirroredPost[]>;
  /** Those of the given posts that already confirm some row. */
  boundPosts(ids: readonly number[]): Promise<Set<number>>;
  /** Whether one of the given posts is of a row that was sent to the same board, in the same way, after this row's last attempt. */
  hasLaterPost(ids: readonly number[], row: OutboxRow): Promise<boolean>;
  /** Those of the given posts that confirm some row, or are shown on another row that looks like this one. */
  accountedFor(ids: readonly number[], row: OutboxRow): Promise<Set<number>>;
  /** Whether another row, one with other words, waits to go to the same board in the same way, and may go any time. */
  hasSuccessor(row: OutboxRow): Promise<boolean>;
  /** The longest time a recently confirmed post was seen to be missing from the list, in milliseconds. */
  worstListDelay(): Promise<number>;
  /** Rows that were once ambiguous, are settled, and still want a look for posts they left behind; none with a twin under way. */
  toLookAfter(): Promise<OutboxRow[]>;
  lookedAfter(look: AfterLook): Promise<void>;
  /** Keeps every other process from sending; the operating system releases it if we die. */
  lockSender(): Promise<Lock | Busy>;
  /** The same for a process that stays: where another one sends, it stands first in line until it gets the lock or is closed. */
  lockSenderFirst(): Promise<Lock | Busy>;
  /** Whether a process that stays waits for the lock: whoever sends for a while leaves it to that one. */
  isSenderWanted(): Promise<boolean>;
  paused(): Promise<string | null>;
  setPaused(reason: string | null): Promise<void>;
  /** Changes whenever another connection wrote to the file. */
  dataVersion(): Promise<number>;
  close(): Promise<void>;
}

export const OUTBOX_STATES = [
  'ready',
  'sending',
  'confirmed',
  'rejected',
  'ambiguous',
  'uncertain',
  'cancelled',
] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];
export type StateCounts = Record<OutboxState, number>;

export interface PostText {
  board: string;
  title: string;
  content: string;
  email: string | null;
  full_name: string | null;
}

export interface NewRow extends PostText {
  batch: string;
  source_key: string;
  line: number | null;
  /** Equal for rows whose posts could not be told apart. */
  twin_key: string;
}

export type Acceptance =
  | { outcome: 'accepted'; id: number }
  | { outcome: 'already'; id: number; state: OutboxState; post_id: number | null; url: string | null }
  | { outcome: 'conflict'; id: number };

export interface OutboxRow extends PostText {
  id: number;
  batch: string;
  source_key: string;
  line: number | null;
  kind: 'owner' | 'as-user';
  twin_key: string;
  state: OutboxState;
  attempts: number;
  not_before: string | null;
  post_id: number | null;
  url: string | null;
  last_error: string | null;
  baseline: number[];
  first_sent_at: string | null;
  not_found: number;
  candidates: number[];
  was_ambiguous: boolean;
  looks_left: number;
  duplicate_of: number | null;
  /** When its text was erased: such a row is not sent any more. */
  erased_at: string | null;
  created_at: string;
  changed_at: string;
}

export interface Arrow {
  from: readonly OutboxState[];
  to: OutboxState;
}

/** What changes along an arrow; what is left out stays. */
export interface RowChange {
  now: number;
  notBefore?: number | null;
  postId?: number;
  url?: string | null;
  error?: string | null;
  notFound?: number;
  candidates?: number[];
  wasAmbiguous?: true;
  looksLeft?: number;
}

export interface Claim {
  id: number;
  arrow: Arrow;
  now: number;
  deadline: number;
  baseline: number[];
}

/** Why a row was not claimed: nothing went out. */
export interface Refusal {
  refused: 'gone' | 'not due' | 'twin under way' | 'paused';
}

export interface AttemptEnd {
  id: number;
  n: number;
  outcome: string;
  httpStatus: number | null;
  error: string | null;
  arrow: Arrow;
  change: RowChange;
}

export interface AttemptRow {
  n: number;
  started_at: string;
  deadline_at: string;
  ended_at: string | null;
  outcome: string | null;
  http_status: number | null;
  post_id: number | null;
  error: string | null;
}

export interface Next {
  /** A row that can be sent now. */
  ready: number | null;
  /** An ambiguous row that has settled. */
  settled: number | null;
  /** When something becomes due, if nothing is due now; null when nothing waits for time. */
  at: number | null;
}

export interface Due {
  /** Rows that can be sent. */
  ready: number[];
  /** Ambiguous rows that have settled. */
  settled: number[];
  /** Since when the one that waits longest could have gone on; null when nothing is due. */
  since: number | null;
  /** When the next row that waits for its time becomes due; null when none does. */
  at: number | null;
}

/** A title and a content, without mark-up; `given` is the title as it is. */
export interface Words {
  given: string;
  title: string;
  content: string;
}

/** What a complete sweep showed of a settled row. */
export interface AfterLook {
  id: number;
  now: number;
  /** Whether this was one of the looks the row is owed. */
  counts: boolean;
  /** A second post, where the row has left one; null leaves what is there. */
  duplicate: number | null;
  /** Posts to show on the row; null leaves what is there. */
  candidates: number[] | null;
}

export interface RowFilter {
  state?: OutboxState;
  batch?: string;
  after?: number;
  limit: number;
}

export interface MirroredPost {
  id: number;
  title: string;
  content: string;
  url: string;
  board_slug: string;
  creator_email: string | null;
  created: string;
}
