import type { Busy, Lock } from '../mirror/seam.ts';

/** The outbox as flows see it: every method is one transaction that has reached the disk when its promise resolves. */
export interface OutboxStore {
  /**
   * Takes rows in; each is either accepted, already there, or in conflict with a row of the same key and other content. Rejects, and
   * takes none, where one of them is for a person who was erased.
   */
  accept(rows: readonly NewRow[], now: number): Promise<Acceptance[]>;
  /** One transition of the state machine; null when the row is in no state that it starts from, or its post confirms another row. */
  move(id: number, transition: Transition, change: RowChange): Promise<OutboxRow | null>;
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
  /** The next row of the batch to send, in the order they became due, and when ambiguous rows of any batch have settled. */
  next(now: number, batch: string | null): Promise<Next>;
  /** What is due now, in the order of `next` and at most `limit` rows of it; a row with the words of one under way is not. */
  due(now: number, limit: number): Promise<Due>;
  find(id: number): Promise<OutboxRow | null>;
  list(filter: RowFilter): Promise<OutboxRow[]>;
  attempts(id: number): Promise<AttemptRow[]>;
  counts(batch: string | null): Promise<StateCounts>;
  /** Rows that may have left a post of which nobody knows: on their way, ambiguous, about to be sent again, or uncertain. */
  claimants(): Promise<OutboxRow[]>;
  /** Posts of the mirror, also deleted ones, that confirm no row and have a higher id or were made since. */
  postsSince(window: { knownMaxId: number | null; created: number }): Promise<MirroredPost[]>;
  /** What the mirror and the outbox know of these posts; those of which they know nothing are left out. */
  knownPosts(ids: readonly number[]): Promise<Map<number, KnownPost>>;
  /** Whom the upstream shows as the creator of our latest posts; only of those whose row is certain. */
  sentAuthors(): Promise<SentAuthor[]>;
  /** Those of the given posts that already confirm some row. */
  boundPosts(ids: readonly number[]): Promise<Set<number>>;
  /** Those of the content hashes that a confirmed row has. */
  confirmedHashes(hashes: readonly string[]): Promise<Set<string>>;
  /** Whether this post is shown on another row with the same words as this one. */
  isShownElsewhere(post: number, row: OutboxRow): Promise<boolean>;
  /** Whether another row, one with other words, waits to go to the same board in the same way, and may go any time. */
  hasSuccessor(row: OutboxRow): Promise<boolean>;
  /** The longest time a recently confirmed post was seen to be missing from the list, in milliseconds. */
  worstListDelay(): Promise<number>;
  /** What is known of the upstream's posts before one is sent. */
  knowledge(): Promise<Knowledge>;
  /** Rows that were once ambiguous, are settled, and still want a check for second posts; none with the words of one under way. */
  toCheck(): Promise<OutboxRow[]>;
  checked(check: SweepCheck): Promise<void>;
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
  /** Equal for rows whose posts could not be told apart: those are never on their way at the same time. */
  content_hash: string;
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
  content_hash: string;
  state: OutboxState;
  attempts: number;
  not_before: string | null;
  post_id: number | null;
  url: string | null;
  /** How its post was found where no answer named it: `exact`, or `similar 0.93`. */
  matched: string | null;
  last_error: string | null;
  /** Posts that are known not to be this one: a person said so. */
  baseline: number[];
  first_sent_at: string | null;
  known_max_id: number | null;
  not_found: number;
  candidates: number[];
  was_ambiguous: boolean;
  checks_left: number;
  duplicate_of: number | null;
  /** When its text was erased: such a row is not sent any more. */
  erased_at: string | null;
  created_at: string;
  changed_at: string;
}

export interface Transition {
  from: readonly OutboxState[];
  to: OutboxState;
}

/** What changes with a transition; what is left out stays. */
export interface RowChange {
  now: number;
  notBefore?: number | null;
  postId?: number;
  url?: string | null;
  matched?: string | null;
  error?: string | null;
  notFound?: number;
  candidates?: number[];
  wasAmbiguous?: true;
  checksLeft?: number;
}

export interface Claim {
  id: number;
  transition: Transition;
  now: number;
  deadline: number;
  /** The highest post id that the list was just seen to have; null where nobody looked. */
  listedMaxId: number | null;
}

/** Why a row was not claimed: nothing went out. */
export interface Refusal {
  refused: 'gone' | 'not due' | 'same content under way' | 'paused';
}

export interface AttemptEnd {
  id: number;
  n: number;
  outcome: string;
  httpStatus: number | null;
  error: string | null;
  /** No request left: the attempt is taken back. */
  isVoid?: boolean;
  transition: Transition;
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
  /** When a row that waits for its time can be sent, if none can be now; null when none waits. */
  at: number | null;
  unclear: Unclear | null;
}

/** When the first and the last of the ambiguous rows have settled. */
export interface Unclear {
  first: number;
  last: number;
}

export interface Due {
  /** Rows that can be sent. */
  ready: number[];
  /** When the next row that waits for its time can be sent; null when none does. */
  at: number | null;
  unclear: Unclear | null;
  /** How many rows could go on now, ambiguous ones among them, counted up to a thousand. */
  count: number;
  /** Since when the one that waits longest could have gone on; null when nothing is due. */
  since: number | null;
}

/** What a complete sweep showed of a settled row. */
export interface SweepCheck {
  id: number;
  now: number;
  /** Whether this was one of the checks the row is owed. */
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
  creator_id: number;
  creator_email: string | null;
  is_team: 0 | 1;
  created: string;
  first_seen_at: string;
}

export interface KnownPost {
  /** Null where the mirror has not seen it. */
  first_seen_at: string | null;
  /** Of the row that it confirms, if any. */
  board: string | null;
  kind: string | null;
  first_sent_at: string | null;
  email: string | null;
  matched: string | null;
}

export interface SentAuthor {
  /** The address that the row was sent as; null for the owner. */
  asked: string | null;
  shown: string | null;
  creator_id: number;
}

export interface Knowledge {
  /** The highest id of a post that is known; null where nobody has seen the whole list yet. */
  maxId: number | null;
  /** When the last complete pass over the posts began. */
  readAt: number | null;
}
