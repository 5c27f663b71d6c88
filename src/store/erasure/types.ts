/** One person, or several at once. */
export interface Person {
  /** Whether an address is theirs, in any spelling. */
  isMeant(email: string): boolean;
  users: number[];
}

/** An address, or the upstream's number of a user who has none. */
export type Whom = string | number;

export interface Found extends Person {
  /** The address, also where a user who has one was asked for by number. */
  whom: Whom;
  isSuppressed: boolean;
  /** How many users have something left to erase. */
  namedUsers: number;
  /** Texts that show the person in a file; none where only a number is known. */
  needles: string[];
}

export interface Suppressed extends Person {
  /** Tells one erasure from another without telling whose it was. */
  hash: string;
  /** False when the address was on the list already. */
  isNew: boolean;
  /** How many users had something left to erase. */
  erasedUsers: number;
}

export interface ErasedCounts {
  users: number;
  posts: number;
  comments: number;
  quarantine: number;
  outbox: number;
  /** Rows of the outbox that had not been sent. */
  cancelled: number;
  /** Rows of the outbox of which nobody knows whether they left a post. */
  unclear: number;
  /** Rows of others that named the address. */
  mentions: number;
}

/** Where the walk through the tables has come to. */
export interface Walk {
  place: number;
  after: number;
}

export interface Step {
  next: Walk | null;
  counts: Partial<ErasedCounts>;
  /** The person's rows of the outbox that are on their way out just now, and were not touched. */
  underWay: number[];
  /** Rows of the outbox that name the address for somebody else and are not settled: other words would make them other posts. */
  unsettled: number[];
}

export interface Expired {
  posts: number;
  comments: number;
  outbox: number;
}

export interface RetireWalk {
  table: 'posts' | 'comments';
  after: number;
  candidates: number[];
}
