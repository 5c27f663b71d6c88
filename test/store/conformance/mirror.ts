import type { Resource } from '../../../src/contract/endpoints.ts';
import type { MirrorStore } from '../../../src/store/mirror/seam.ts';

export type Row = Record<string, unknown>;

export type TableName =
  | 'users'
  | 'boards'
  | 'statuses'
  | 'posts'
  | 'comments'
  | 'commented_posts'
  | 'quarantine'
  | 'live_posts'
  | 'live_comments';

/** What anyone may read from a mirror, whatever database it is. */
export interface Reader {
  /** All rows, lowest id first. */
  table(name: TableName): Row[];
  /** Oldest version first. */
  postHistory(postId: number): Row[];
  commentHistory(commentId: number): Row[];
  /** Ids of live posts with these words in title or content, lowest first. */
  search(words: string): number[];
  /** Throws where the index and the texts it was made from disagree. */
  checkTextIndex(): void;
  votesAt(postId: number, at: string): number | null;
  statusChanges(postId: number): { at: string; status_id: number }[];
  /** Milliseconds spent in each status up to a moment, by status. */
  timeInStatus(postId: number, until: string): Record<number, number>;
}

/** Another process that holds the lock of a resource. */
export interface Holder {
  pid: number;
  send(signal: NodeJS.Signals): void;
  /** SIGKILL, and until it is gone. */
  kill(): Promise<void>;
}

/** A store under test, on data of its own. */
export interface Mirror {
  store: MirrorStore;
  upstream: string;
  read: Reader;
  /** As after a crash: what was not finished stays so, and `store` is a new one on the same data. */
  reopen(): Promise<void>;
  /** A second store on the same data, as another process would open it. */
  another(): MirrorStore;
  holdElsewhere(resource: Resource): Promise<Holder>;
  /** Checks that the data is whole, and removes it. */
  dispose(): Promise<void>;
}

export type OpenMirror = () => Promise<Mirror>;
