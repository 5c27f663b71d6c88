import { mirrorAt } from '../app/place.ts';
import type { Resource } from '../contract/endpoints.ts';
import { openReplicaReads } from '../replica/replica.ts';
import type { Comment, MirrorFile, Post } from './types.ts';

export type { Board, Comment, MirrorFile, Post, Status, User } from './types.ts';

/** The rows of a mirror that are there now, in the form of the API. */
export interface MirrorReader {
  /** Every live post, newest first. */
  posts(): AsyncGenerator<Post, void, undefined>;
  /** Every live comment, newest first. */
  comments(): AsyncGenerator<Comment, void, undefined>;
  /** The most relevant posts, 50 at most. */
  search(text: string): Promise<Post[]>;
  close(): Promise<void>;
}

const PAGE_ROWS = 500;

/**
 * Opens the mirror for reading, beside a running service or without one. For SQL of your own open the file with any SQLite; docs/sql.md
 * has the tables.
 */
export function openMirror(file: MirrorFile): MirrorReader {
  const reads = openReplicaReads(mirrorAt(file));
  async function* rows<T extends { id: number }>(resource: Resource): AsyncGenerator<T, void, undefined> {
    for (let id: number | null = null, hasMore = true; hasMore; ) {
      const slice = await reads.page(resource, { id, side: 'after' }, PAGE_ROWS);
      yield* slice.rows as unknown as T[];
      id = slice.rows.at(-1)?.id ?? null;
      hasMore = slice.hasMore;
    }
  }
  return {
    posts: () => rows<Post>('posts'),
    comments: () => rows<Comment>('comments'),
    search: (text) => reads.search(text),
    close: () => reads.close(),
  };
}
