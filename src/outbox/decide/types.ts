import type { CreateOutcomeName } from '../../contract/endpoints.ts';
import type { OutboxState, Transition } from './states.ts';
import type { SentAuthor, ShownPost } from './whose.ts';

export { OUTBOX_STATES } from './states.ts';
export type { OutboxState, SentAuthor, Transition };
export type StateCounts = Record<OutboxState, number>;

export interface PostText {
  board: string;
  title: string;
  content: string;
  email: string | null;
  full_name: string | null;
}

/** Rows of the outbox that already match lines of one import file. A row matches one line at most. */
export interface FileMatches {
  has(id: number): boolean;
  add(id: number): void;
  /** By what rows say: up to which id every row that says it matches a line. */
  passed: Map<string, number>;
  /** What rows said before a person edited them, by title; read with the first use. */
  mended?: Map<string, { id: number; post: PostText }[]>;
  /** Whether the file has keys. Then a row with a key matches no line without one. */
  hasKeys: boolean;
  /** Names of tools whose columns are recognised. They are the prefixes of source keys. */
  tools: ReadonlySet<string>;
}

export interface NewRow extends PostText {
  batch: string;
  source_key: string;
  line: number | null;
  /** As its file has them, where it has a key: another column may have held the key before. */
  cells?: readonly string[];
  /** What an older version called it: a row of this text under such a key is this one. */
  former_keys?: readonly string[];
  /** Content hashes that the same row has under other names of its board, or with or without the apostrophe of a spreadsheet. */
  other_hashes?: readonly string[];
  /** What matches the file of this row. Left out where a row is known by its key alone. */
  fileMatches?: FileMatches;
  /** Equal for rows whose posts could not be told apart: those are never on their way at the same time. */
  content_hash: string;
  /** An agent proposes it: it waits for a person. Ready to be sent unless given. */
  isProposed?: true;
  /** The file calls it cancelled: who imports that file wants it after all. */
  wasCancelled?: boolean;
}

export type Acceptance =
  | { outcome: 'accepted'; id: number }
  /** A rejected row that came again with other words, or a cancelled one that is wanted again: it has them now, and is ready. */
  | { outcome: 'mended'; id: number }
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
  /** How its post was found where no answer named it: `marked`, `same`, `part` or `person`; of older versions `exact`, `similar 0.93`. */
  matched: string | null;
  last_error: string | null;
  /** Posts that a person has turned down as the post of this row. */
  baseline: number[];
  first_sent_at: string | null;
  known_max_id: number | null;
  not_found: number;
  candidates: number[];
  was_ambiguous: boolean;
  checks_left: number;
  duplicate_of: number | null;
  /** The last line of the content as it was sent, with the row's reference; null where it carries none. */
  mark: string | null;
  /** Its batch is paused, cancelled, or slower than the service: the row is ready, but is not sent. */
  on_hold: boolean;
  /** When its text was erased: such a row is not sent any more. */
  erased_at: string | null;
  created_at: string;
  changed_at: string;
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
}

export interface Claim {
  id: number;
  transition: Transition;
  now: number;
  deadline: number;
  /** The highest post id of the list just before the claim. Null if it was not read. */
  listedMaxId: number | null;
  /** The last line of the content, where the post carries a mark. */
  mark?: string | null;
  /** How many posts may leave a minute; any number where it is left out. */
  perMinute?: number;
}

/** Why a row was not claimed: nothing went out. */
export interface Refusal {
  refused: 'gone' | 'not due' | 'same content under way' | 'paused' | 'on hold' | 'rate limit';
}

/** New words for a row that a person edits. */
export interface Edit {
  id: number;
  /** The states in which a row may be edited. */
  from: readonly OutboxState[];
  post: PostText;
  content_hash: string;
  now: number;
}

/** What a row said before it was edited. */
export interface EditRow {
  n: number;
  edited_at: string;
  before: PostText;
}

export interface AttemptEnd {
  id: number;
  n: number;
  outcome: CreateOutcomeName;
  httpStatus: number | null;
  error: string | null;
  /** The post that an answer named which cannot be believed. */
  named?: number;
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
  outcome: CreateOutcomeName | null;
  http_status: number | null;
  post_id: number | null;
  error: string | null;
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
  /** Since when the one that waits longest could have gone on; null when nothing is due. */
  since: number | null;
}

/** Posts to be shown on a row. */
export interface PostsOfRow {
  id: number;
  posts: readonly number[];
  now: number;
}

/** A complete sweep that second posts were looked for after. */
export interface SweepCheck {
  sweepStartedAt: string;
  now: number;
  /** Posts that were first seen before are not looked at again. */
  until: number;
}

/** What tells how fast posts go out. */
export interface RecentSends {
  posts: number;
  /** How long they took, without the times in which nothing waited. */
  ms: number;
  /** When the last of them was confirmed. */
  last: number | null;
  closedUntil: number | null;
}

export interface RowFilter {
  state?: OutboxState;
  batch?: string;
  after?: number;
  limit: number;
}

export interface KnownPost {
  /** Null where the mirror has not seen it. */
  first_seen_at: string | null;
  /** As the list showed it; null where the mirror has not seen it. */
  created: string | null;
  /** Of the row that it confirms, if any. */
  row: number | null;
  /** When the last attempt of that row began. */
  sent_at: string | null;
  email: string | null;
  matched: string | null;
}

/** A row that an answer confirmed, and the post that the mirror has under that number, with other words. */
export interface DoubtfulRow {
  row: OutboxRow;
  post: ShownPost;
}

export interface Knowledge {
  /** The highest known id of a post. Null before a whole list was read. */
  maxId: number | null;
  /** When the last complete pass over the posts began. */
  readAt: number | null;
}

/** A row as SQLite holds it. */
export interface StoredRow extends Omit<OutboxRow, 'baseline' | 'candidates' | 'was_ambiguous' | 'on_hold'> {
  baseline: string;
  candidates: string;
  was_ambiguous: number;
  on_hold: number;
}

export function toRow({ baseline, candidates, was_ambiguous, on_hold, ...row }: StoredRow): OutboxRow {
  return {
    ...row,
    baseline: JSON.parse(baseline) as number[],
    candidates: JSON.parse(candidates) as number[],
    was_ambiguous: was_ambiguous === 1,
    on_hold: on_hold === 1,
  };
}

/** A post that an answer named. */
export interface SentPost extends Pick<OutboxRow, 'board' | 'kind'> {
  id: number;
  isMirrored: 0 | 1;
  /** When the attempt began that made it. */
  sentAt: string;
}

/** A sent row that has the words of a post of the window, or whose own post shows them. */
export interface SentAlike {
  row: OutboxRow;
  /** The words of its own post, where those are what the post of the window has; else nothing. */
  shown: Partial<Pick<PostText, 'board' | 'title' | 'content'>>;
  author: SentAuthor | null;
}
