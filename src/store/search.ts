import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../base/errors.ts';
import { SEARCH_LIMIT } from '../contract/endpoints.ts';
import { boundOf, conditionsOf, EVERY_LIVE_POST, type PostFilter } from './browse-filter.ts';
import type { Db, OpenOptions } from './db.ts';
import { openMirrorReadOnly } from './open.ts';
import { matchText, readTerms } from './search-terms.ts';

/** The full-text search of live posts, from a handle that cannot change them. */
export interface SearchReads {
  /** The most relevant first; a word in the title weighs more than one in the content. */
  find(text: string, options?: SearchOptions): Promise<Found>;
  close(): Promise<void>;
}

export interface SearchOptions {
  /** 50 at most, and that many unless given. */
  limit?: number;
  /** Only posts of this board, by the short part of its URL or by its name. */
  board?: string | undefined;
  /** Whether the last word may still be growing. */
  typing?: boolean;
  /** Which posts may be found; the live ones unless given. */
  among?: PostFilter;
}

export interface Found {
  hits: Hit[];
  /** Whether the text held anything to look for. */
  isQuestion: boolean;
  /** Posts that cannot be found yet: the index of a new mirror is still being made. */
  unindexed: number;
}

/** A piece of a text, and whether it is what was looked for. */
export interface Part {
  text: string;
  isMatch: boolean;
}

export interface Hit {
  id: number;
  title: Part[];
  /** Where the content says it, or how it begins. */
  snippet: Part[];
  url: string;
  board: string;
  boardSlug: string;
  status: string;
  statusColor: string;
  votes: number;
  comments: number;
  created: string;
  /** Comparable within one search only; the best has the smallest. */
  relevance: number;
}

export function openSearchReads(options: OpenOptions): SearchReads {
  const db = openMirrorReadOnly(options);
  const find = searcher(db);
  return {
    find: async (text, wanted) => find(text, wanted),
    async close() {
      db.close();
    },
  };
}

/** Marks that cannot be in a text anyone wrote: Unicode keeps these for use inside a program. */
const OPEN = '\ufdd0';
const CLOSE = '\ufdd1';
/** A title is about ten words, a content a hundred: a word of the title says more of what a post is about. */
const TITLE_WEIGHT = 8;
const SNIPPET_WORDS = 24;
/** Among more matches than this only the newest are ranked. A word that common says little, and ranking a million takes two seconds. */
const CANDIDATES = 200_000;

/**
 * Three passes over the matches in the index, so that the texts of posts are read for those only that are shown: how far back to go,
 * which are the best, and what they look like. In the index's own `ORDER BY rank`, which has no bound and carries every place of
 * every word along, a tenth of a million posts took 154 ms instead of 115, and nearly all of them 2 s instead of 0.4 s.
 */
export const SEARCH_SQL = {
  floor: `SELECT rowid FROM posts_text WHERE posts_text MATCH $match ORDER BY rowid DESC LIMIT 1 OFFSET ${CANDIDATES - 1}`,
  best: bestOf(`
       rowid NOT IN (SELECT id FROM posts WHERE deleted_at IS NOT NULL)
       AND ($board IS NULL OR (SELECT board_id FROM posts WHERE id = posts_text.rowid) = $board)`),
  // The plus keeps SQLite from asking the index once for each id: the beginning of a word is gathered anew each time.
  shown: `
    SELECT p.id, highlight(posts_text, 0, '${OPEN}', '${CLOSE}') AS title,
           snippet(posts_text, 1, '${OPEN}', '${CLOSE}', '…', ${SNIPPET_WORDS}) AS snippet, p.url,
           b.name AS board, b.slug AS boardSlug, s.name AS status, s.color AS statusColor,
           p.votes_count AS votes, p.comments_count AS comments, p.created
      FROM posts_text CROSS JOIN posts p ON p.id = posts_text.rowid
      JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
     WHERE posts_text MATCH $match AND posts_text.rowid >= $floor
       AND +posts_text.rowid IN (SELECT value FROM json_each($ids))`,
} as const;

function bestOf(condition: string): string {
  return `
    SELECT rowid AS id, bm25(posts_text, ${TITLE_WEIGHT}.0, 1.0) AS relevance FROM posts_text
     WHERE posts_text MATCH $match AND rowid >= $floor AND ${condition}
     ORDER BY relevance, rowid DESC LIMIT $limit`;
}

/** Among some posts only: each match is looked up, and none is left out for being too far down a ranking made before. */
function bestAmong(filter: PostFilter): string {
  const conditions = ['p.id = posts_text.rowid', ...conditionsOf(filter)];
  return bestOf(`EXISTS (SELECT 1 FROM posts p WHERE ${conditions.join(' AND ')})`);
}

interface Best {
  id: number;
  relevance: number;
}

/** The ids of the best matches, the best first; null where the text holds nothing to look for. */
export function ranker(db: Db): (text: string, options?: SearchOptions) => Ranking | null {
  const floors = db.prepare<{ match: string }, number>(SEARCH_SQL.floor).pluck();
  const best = db.prepare<{ match: string; floor: number; board: number | null; limit: number }, Best>(
    SEARCH_SQL.best,
  );
  const boardId = boardFinder(db);
  return (text, { limit = SEARCH_LIMIT, board: slug, typing = false, among } = {}) => {
    const board = slug === undefined ? null : boardId(slug);
    const match = matchText(readTerms(text, { typing }));
    if (match === null) return null;
    const floor = floors.get({ match }) ?? 0;
    const range = { match, floor, limit: Math.min(limit, SEARCH_LIMIT) };
    if (among === undefined || isDeepStrictEqual(among, EVERY_LIVE_POST))
      return { match, floor, best: best.all({ ...range, board }) };
    const filter = board === null ? among : { ...among, board: [board] };
    const found = db.prepare<object, Best>(bestAmong(filter)).all({ ...range, ...boundOf(filter) });
    return { match, floor, best: found };
  };
}

interface Ranking {
  match: string;
  floor: number;
  best: Best[];
}

type StoredHit = Omit<Hit, 'title' | 'snippet' | 'relevance'> & { title: string; snippet: string };

function searcher(db: Db): (text: string, options?: SearchOptions) => Found {
  const rank = ranker(db);
  const shown = db.prepare<{ match: string; floor: number; ids: string }, StoredHit>(SEARCH_SQL.shown);
  const unindexed = unindexedCounter(db);
  const show = ({ match, floor, best }: Ranking): Hit[] => {
    const ids = JSON.stringify(best.map(({ id }) => id));
    const rows = new Map(shown.all({ match, floor, ids }).map((row) => [row.id, row]));
    return best.flatMap(({ id, relevance }) => {
      const row = rows.get(id);
      return row ? [toHit(row, relevance)] : [];
    });
  };
  // One snapshot for all passes: a row may change or go between two of them.
  return db.transaction((text: string, options?: SearchOptions): Found => {
    const ranking = rank(text, options);
    const hits = ranking === null ? [] : show(ranking);
    return { hits, isQuestion: ranking !== null, unindexed: unindexed() };
  });
}

function toHit(row: StoredHit, relevance: number): Hit {
  return { ...row, title: partsOf(row.title), snippet: partsOf(row.snippet), relevance };
}

function partsOf(marked: string): Part[] {
  const parts: Part[] = [];
  for (const [index, piece] of marked.split(OPEN).entries()) {
    const end = index === 0 ? -1 : piece.indexOf(CLOSE);
    if (end > 0) parts.push({ text: piece.slice(0, end), isMatch: true });
    if (end + 1 < piece.length) parts.push({ text: piece.slice(end + 1), isMatch: false });
  }
  return parts;
}

function boardFinder(db: Db): (board: string) => number {
  const find = db
    .prepare<{ board: string }, number>(
      'SELECT id FROM boards WHERE slug = $board OR name = $board COLLATE NOCASE ORDER BY slug = $board DESC LIMIT 1',
    )
    .pluck();
  const all = db.prepare<[], string>('SELECT slug FROM boards ORDER BY slug LIMIT 50').pluck();
  return (board) => {
    const id = find.get({ board });
    if (id !== undefined) return id;
    throw new AppError('usage', `the mirror has no board "${board}"`, {
      hint: `It knows ${all.all().join(', ') || 'none yet'}.`,
    });
  };
}

function unindexedCounter(db: Db): () => number {
  const count = db
    .prepare<[], number>(
      `SELECT count(*) FROM posts
        WHERE id > CAST((SELECT value FROM meta WHERE key = 'text_indexed_to') AS INTEGER)`,
    )
    .pluck();
  return () => count.get() ?? 0;
}
