import type { Comment, Post } from '../../contract/decode.ts';
import type { Resource } from '../../contract/endpoints.ts';

export interface Lock {
  ok: true;
  release(): void;
}

export interface Busy {
  ok: false;
  /** Who holds it, in words: `process 4711 (sync), since 2026-01-01T…`. */
  holder: string;
}

export type PassMode = 'sweep' | 'head';

/** What a list can be strictly ordered by without ever moving a row: its id, or its creation time and then its id. */
export type KeyFamily = 'id' | 'created';

/** Where a row stands in such an order; `created` is in our own spelling of time. */
export interface Key {
  created: string;
  id: number;
}

/** The open interval between two keys; null is the end of the world. */
export interface KeyRange {
  above: Key | null;
  below: Key | null;
}

export interface PassStart {
  resource: Resource;
  mode: PassMode;
  now: number;
  /** Go on with an interrupted sweep, if there is one. */
  resume: boolean;
  /** What later passes must know before this one reads anything; undefined leaves it as it is. */
  learned?: string;
}

export interface Pass {
  runId: number;
  resource: Resource;
  mode: PassMode;
  /** How often this run was resumed. */
  resumed: number;
  startedAt: string;
  /** The checkpoint of a resumed sweep, as src/sync wrote it. */
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

export interface Reject {
  id: number | null;
  reason: string;
  body: string;
}

export type PageRows = { resource: 'posts'; rows: Post[] } | { resource: 'comments'; rows: Comment[] };

export interface PageWrite {
  pass: Pass;
  page: PageRows;
  rejects: Reject[];
  /** Rows that an earlier page of the walk has shown: where a list shows one row in two ways, the first counts. */
  repeated?: ReadonlySet<number>;
  /** When the page was received, on our clock. */
  observedAt: number;
  /** How old what it shows was by then, as where a cache in between had kept it. */
  ageMs?: number;
  /** When it is written, on the same clock. */
  now: number;
  /** Where this page shows that nothing else stood. */
  absence: Absence | null;
  /** Whether the ids are to be remembered until the end of the sweep. */
  keepIds: boolean;
  /** What to resume from if this page is the last thing we do; null for passes that are not resumed. */
  state: string | null;
}

export interface PageResult {
  counts: PassCounts;
  /** True when no row of the page was new or different. */
  unchanged: boolean;
  /** It showed something as it was before it was last seen to change, which was left as it is. */
  isLate: boolean;
}

export interface Absence {
  by: KeyFamily;
  gaps: Gap[];
  /** Read again in the same sweep: it speaks only against rows that the sweep itself did not show. */
  isReread?: true;
}

/** A range of keys in which a page showed no row beyond its own. */
export interface Gap {
  range: KeyRange;
  /** Inside a page a row has a neighbour on each side, seen at one moment; between pages it has not; beyond the end a list may be cut short. */
  kind: 'inside' | 'between' | 'end';
  /** Where to begin reading this place again, and the page before that. */
  page: string;
  pageBefore: string | null;
  /** Its rows are suspects, but nothing is counted against them. */
  isDoubtful?: true;
  /** A second, `2026-01-02T03:04:05`, whose rows the service may have skipped between two pages. */
  tie?: string;
}

/** A live row that a sweep did not show, and where its place was. */
export interface Candidate extends Pick<Gap, 'page' | 'pageBefore'> {
  id: number;
  key: Key;
}

/** How deletions of a list are found: by gaps in its order, by three sweeps without the row, or not at all. */
export type Rule = 'proof' | 'three sweeps' | 'none';

/** Why a sweep is none of its own: what was noted before it counts on. */
export const BEHIND_CACHE =
  'a cache in between showed the last sweep pages from before the last one that counts';

/** What a complete sweep says about absence. */
export interface Conclusion {
  rule: Rule;
  why: string;
  /** In how many sweeps gaps must show that a row is gone before it is deleted; null where none is deleted yet. */
  sweeps: 2 | 3 | null;
  /** Rows were shown twice: the list moved while it was read. */
  moved: boolean;
  /** The list ended at the row at which the sweep before saw it end. */
  sameEnd: boolean;
  /** Pages go on after a time, and not after a row: the time that rows show, or a finer one. */
  timed: 'exact' | 'finer' | null;
}

export interface PassEnd {
  pass: Pass;
  outcome: 'complete' | 'interrupted' | 'failed';
  now: number;
  error: string | null;
  /** Where the next sweep goes on from; null when there is nothing to go on with. */
  keepState: string | null;
  /** Null where nothing is concluded from absence, and nothing is said about the order. */
  conclusion: Conclusion | null;
  /** A person has accepted deletions beyond the mass-delete guard. */
  acceptDeletes: boolean;
  /** For later passes; undefined leaves it as it is. */
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
  /** How deletions of this list are found, and why so; null before the first complete sweep. */
  rule: Rule | null;
  ruleWhy: string | null;
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
  rule: Rule | null;
  ruleWhy: string | null;
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
  upstream: string;
  olderCopy: OlderCopy | null;
  unreadableList: UnreadableList | null;
  resources: ResourceStatus[];
  people: { users: number; boards: number; statuses: number };
  runs: RunRow[];
}
