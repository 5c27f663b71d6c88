import type { ErrorCode } from '../../base/errors.ts';
import type { Comment, Post } from '../../contract/decode.ts';
import type { Resource } from '../../contract/endpoints.ts';
import type { AbsenceVerdict } from './absence.ts';
import type { Trouble } from './troubles.ts';

export type PassMode = 'sweep' | 'head';

export interface PassStart {
  resource: Resource;
  mode: PassMode;
  now: number;
  /** Go on with an interrupted sweep, if there is one. */
  resume: boolean;
}

export interface Pass {
  runId: number;
  resource: Resource;
  mode: PassMode;
  /** How often this run was resumed. */
  resumed: number;
  startedAt: string;
  /** The checkpoint of a resumed sweep, as src/mirror/sweep wrote it. */
  state: string | null;
  counts: PassCounts;
}

export interface PassCounts {
  pages: number;
  rows: number;
  inserted: number;
  updated: number;
  unchanged: number;
  quarantined: number;
}

export interface RejectedRow {
  id: number | null;
  reason: string;
  body: string;
}

export type PageRows = { resource: 'posts'; rows: Post[] } | { resource: 'comments'; rows: Comment[] };

export interface PageWrite {
  pass: Pass;
  page: PageRows;
  rejects: RejectedRow[];
  /** Rows that an earlier page of the walk has shown: where a list shows one row in two ways, the first counts. */
  repeated?: ReadonlySet<number>;
  /** When the page was received, on our clock. */
  observedAt: number;
  /** How old what it shows was by then, as where a cache in between had kept it. */
  ageMs?: number;
  /** When it is written, on the same clock. */
  now: number;
  /** The ids of the page in the order shown, for a pass that says which rows a list has; null for others. */
  shown: readonly number[] | null;
  /** What to resume from if this page is the last thing we do; null for passes that are not resumed. */
  state: string | null;
}

export interface PageResult {
  /** True when no row of the page was new or different. */
  unchanged: boolean;
}

/** In SQL: a pass that reached its end, also where the list left out rows. */
export const ENDED = "outcome IN ('complete', 'incomplete')";

/** A sweep that is `incomplete` reached the end of a list that leaves out rows. */
export type Outcome = 'complete' | 'incomplete' | 'interrupted' | 'failed';

export interface PassEnd {
  pass: Pass;
  outcome: Outcome;
  now: number;
  /** Why a pass failed, or what an incomplete one lacks. */
  error?: string | null;
  /** Of a pass that failed. */
  code?: ErrorCode;
  /** Where the next sweep goes on from; null when there is nothing to go on with. */
  keepState?: string | null;
  /** What a sweep says about rows that it did not show; null where it says nothing. */
  verdict?: AbsenceVerdict | null;
  /** A person has accepted deletions beyond the mass-delete guard. */
  acceptDeletes?: boolean;
  /** For later passes; without it that stays as it is. */
  learned?: string;
}

export interface PassSummary extends PassCounts {
  runId: number;
  resource: Resource;
  mode: PassMode;
  outcome: PassEnd['outcome'];
  resumed: number;
  deleted: number;
  held: number;
  suspects: number;
  error: string | null;
  startedAt: string;
  finishedAt: string;
}

export interface RunRow
  extends PassCounts,
    Pick<PassSummary, 'resource' | 'mode' | 'error' | 'deleted' | 'held' | 'suspects'> {
  id: number;
  started_at: string;
  finished_at: string | null;
  outcome: string;
}

export interface ResourceStatus {
  resource: Resource;
  live: number;
  deleted: number;
  lastSweepAt: string | null;
  lastHeadAt: string | null;
  /** A sweep was interrupted and waits to be resumed. */
  unfinished: boolean;
  suspects: number;
  held: number;
  quarantined: number;
  /** The last sweep reached the end of a list that leaves out rows. */
  isIncomplete: boolean;
  /** What an operator should know about the list, in sentences. */
  notes: string[];
}

export function copyText({ since }: Pick<OlderCopy, 'since'>): string {
  return since === null
    ? 'a copy, of a time that is not known, that was put back'
    : `a copy from ${since} that was put back`;
}

/** What there is to tell people about an older copy. */
export interface OlderCopy {
  /** What was sent or erased after this moment is not in the copy; null where it is not known, as when the clock was ahead then. */
  since: string | null;
  /** Null while it was only read. */
  noticedAt: string | null;
  /** Rows of the outbox that are looked for before anything is sent. */
  checking: number;
  /** People erased since who were erased again. */
  erasures: number;
  /** False where the data folder does not know what was sent and erased since. */
  isCovered: boolean;
}

/** Erasures that cannot be recognised in a page because their key is not in the data folder. Until it is back no page is taken in. */
export interface UnreadableList {
  erasures: number;
  keyFile: string;
  fault: string;
}

export interface MirrorStatus {
  /** What a person has to see to. */
  troubles: Trouble[];
  upstream: string;
  olderCopy: OlderCopy | null;
  unreadableList: UnreadableList | null;
  resources: ResourceStatus[];
  people: { users: number; boards: number; statuses: number };
  runs: RunRow[];
}
