/**
 * What erasing means here, whole:
 *
 * A person is every user of the mirror with the address, in any spelling. Erased are that user's address, name, alias and
 * undocumented fields, and the title, text, link and undocumented fields of each post and comment of theirs: in the tables, in the
 * history, in the short forms beside comments, in the full-text index, in the quarantine and in the outbox. Ids, authorship, boards,
 * states, votes and times stay, so that counts and references hold. The address itself is taken out of what anybody else wrote; a
 * name in somebody else's text stays, because nobody can tell whose it is.
 *
 * From then on a keyed hash of the address and the user's number keep later pages from bringing any of it back.
 */
export interface ErasureStore {
  /** Puts an address on the list and erases the users who have it; from here on no page brings them back. */
  suppress(email: string, now: number): Promise<Suppressed>;
  /** Takes an address off the list; false when it was not on it. */
  lift(email: string): Promise<boolean>;
  /** Forgets the hashes, for when their key is lost; returns how many. People known by number stay on the list. */
  newKey(): Promise<number>;
  /** The next piece of what is left of a person; start with null. */
  erase(person: Person, walk: Walk | null, now: number): Promise<Step>;
  /** Erases those of the person's rows in `sending` that a sender left behind who died; none while a sender lives. Returns how many. */
  eraseOrphans(ids: readonly number[], now: number): Promise<number>;
  /** Erases some of the rows that were deleted before the given moment; true while there may be more. */
  expire(before: number, now: number): Promise<{ counts: Expired; more: boolean }>;
  /** The next piece of looking for authors of whom nothing is left; start with null, which is also where it ends. */
  retire(walk: RetireWalk | null, now: number): Promise<{ next: RetireWalk | null; users: number }>;
  /** Whether something was erased of which copies may still lie in unused parts of the file. */
  isUnclean(): Promise<boolean>;
  close(): Promise<void>;
}

/** One person, or several at once. */
export interface Person {
  /** Whether an address is theirs, in any spelling. */
  isMeant(email: string): boolean;
  users: number[];
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
