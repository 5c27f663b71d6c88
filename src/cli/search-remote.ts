import { AppError } from '../base/errors.ts';
import type { Post } from '../contract/decode.ts';
import { slugOf } from '../store/mirror/entity-tables.ts';
import type { Found, Hit } from '../store/search.ts';
import { cut } from './table.ts';

/** About as long as a snippet of the mirror's own search. */
const BEGINNING = 160;

/** What the service found, in its own order; it does not say what in the texts it went by, so nothing is marked. */
export function fromUpstream(
  rows: readonly Post[],
  { limit, board }: { limit: number; board: string | undefined },
): Found {
  const wanted = board?.toLowerCase();
  const isWanted = ({ board: its }: Post): boolean =>
    wanted === undefined || wanted === its.name.toLowerCase() || wanted === slugOf(its.url).toLowerCase();
  const hits = rows.map(toHit);
  const kept = hits.filter((_, n) => isWanted(rows[n] as Post)).slice(0, limit);
  if (kept.length === 0 && hits.length > 0)
    throw new AppError(
      'usage',
      `none of the ${hits.length} posts that the service found is of board "${board}"`,
    );
  return { hits: kept, isQuestion: true, unindexed: 0 };
}

function toHit(post: Post, place: number): Hit {
  return {
    id: post.id,
    title: [{ text: post.title, isMatch: false }],
    snippet: [{ text: cut(post.content, BEGINNING), isMatch: false }],
    url: post.url,
    board: post.board.name,
    boardSlug: slugOf(post.board.url),
    status: post.status.name,
    statusColor: post.status.color,
    votes: post.votes_count,
    comments: post.comments_count,
    created: post.created,
    relevance: place,
  };
}
