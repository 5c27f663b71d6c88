import { setTimeout } from 'node:timers/promises';
import { mirrorAt } from '../app/place.ts';
import { openChangeFeed } from '../changes/feed.ts';
import type { Change, MirrorFile } from './types.ts';

export type { Change, ChangedPost, MirrorFile } from './types.ts';

export interface ChangeFilter {
  /** Types, or groups such as `post.*`; all unless given. */
  types?: readonly string[];
  /** Boards by name, short name or number; all unless given. */
  boards?: readonly string[];
}

export interface FollowOptions extends ChangeFilter {
  /** Ends the loop. */
  signal?: AbortSignal;
}

/**
 * The change feed of a mirror. A position that the feed no longer keeps, or that belongs to another state of the mirror, is refused with an
 * error whose `code` is `gone`: start again from a snapshot.
 */
export interface ChangeFeed {
  /** The position after the last change. */
  position(): string;
  /** Up to `limit` changes after a position, oldest first. Keep `next`. */
  after(
    position: string,
    filter: ChangeFilter & { limit: number },
  ): { changes: Change[]; next: string; isLast: boolean };
  /** Every change after a position, and then each new one as the mirror sees it. Keep `change.position`. */
  follow(position: string, options?: FollowOptions): AsyncGenerator<Change, void, undefined>;
  close(): void;
}

const PAGE_ROWS = 100;
const LOOK_EVERY_MS = 500;

export function openChanges(file: MirrorFile): ChangeFeed {
  const feed = openChangeFeed(mirrorAt(file));
  return {
    position: () => feed.head().position,
    after: (position, filter) => feed.after(position, filter),
    async *follow(position, { signal, ...filter } = {}) {
      for (let since = position; !signal?.aborted; ) {
        const { changes, next, isLast } = feed.after(since, { ...filter, limit: PAGE_ROWS });
        yield* changes;
        since = next;
        if (isLast) await setTimeout(LOOK_EVERY_MS, null, signal ? { signal } : {}).catch(() => undefined);
      }
    },
    close: () => feed.close(),
  };
}
