import { SEARCH_LIMIT } from '../contract/endpoints.ts';
import type { PostWire } from '../contract/entities.ts';
import type { Db } from './database.ts';
import { prepare, type Scope, scopeParameters } from './listing.ts';
import { POST_JOINS, POST_SELECT, type PostRow, toPost } from './wire.ts';

/** More words than anyone types; each is a lookup of its own. */
const MAX_TERMS = 32;

/** The posts with all words of the text, most relevant first; a word in the title weighs five times one in the content. */
export function searchPosts(db: Db, text: string, scope: Scope): PostWire[] {
  const query = toQuery(text);
  if (query === null) return [];
  const boards = scope.boards ? 'AND m.board_id IN (SELECT value FROM json_each(@boards))' : '';
  const sql = `SELECT ${POST_SELECT} FROM (
      SELECT m.id, bm25(posts_text, 5.0, 1.0) AS relevance
      FROM posts_text JOIN posts m ON m.id = posts_text.rowid
      WHERE posts_text MATCH @query ${boards}
        AND m.id NOT IN (SELECT post_id FROM hidden)
      ORDER BY relevance, m.id DESC LIMIT ${SEARCH_LIMIT}
    ) page JOIN posts p ON p.id = page.id ${POST_JOINS} ORDER BY page.relevance, p.id DESC`;
  const rows = prepare(db, sql).all({ ...scopeParameters(scope), query }) as PostRow[];
  return rows.map(toPost);
}

/**
 * Only runs of letters and digits go through, each in quotes: whatever the text holds, nothing of it is FTS syntax.
 * Null when nothing to look for is left.
 */
export function toQuery(text: string): string | null {
  const terms = text.match(/[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu) ?? [];
  if (terms.length === 0) return null;
  return [...new Set(terms)]
    .slice(0, MAX_TERMS)
    .map((term) => `"${term}"`)
    .join(' AND ');
}
