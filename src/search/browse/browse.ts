import type { OpenOptions } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import { openMirrorReadOnly } from '../../mirror/file/open.ts';
import { matchText, readTerms } from '../../mirror/index/terms.ts';
import { segmentReader } from '../../segments/filter.ts';
import { columnList } from './columns-list.ts';
import { companyReader } from './company.ts';
import type { PageRequest, Place } from './filter.ts';
import { pagesReader } from './pages.ts';
import { peopleReader } from './people.ts';
import { LINE_COLUMNS, LINE_TABLES, type ListedPost, type PostLine, wholePostReader } from './post.ts';

export { type PageRequest, type Place, SORTS } from './filter.ts';

export interface PostPage {
  rows: ListedPost[];
  /** Where the pages beside it are; null at the ends of the list. */
  next: Place | null;
  previous: Place | null;
  /** `isMore` when it is only known to be more than that many, as of a search. */
  total: { posts: number; isMore: boolean };
}

export interface Choices {
  boards: { id: number; name: string; slug: string }[];
  statuses: { id: number; name: string; color: string }[];
}

export interface PostTally {
  board: number;
  status: number;
  posts: number;
}

interface Person {
  id: number;
  name: string | null;
}

const BEGINNING = 180;
/** Enough for the narrow index of a million posts. */
const CACHE_KB = 128_000;

const ROWS = `
  SELECT ${LINE_COLUMNS}, substr(p.content, 1, $beginning) AS beginning, u.name AS creator, p.creator_id AS creatorId,
         p.version_at AS changed, p.deleted_at AS deleted
    FROM ${LINE_TABLES} JOIN users u ON u.id = p.creator_id WHERE p.id IN (SELECT value FROM json_each($ids))`;

/** A number or a whole address means one person, anything else a part of a name or address; of very many people the first will do. */
const CREATORS = `
  WITH exact AS MATERIALIZED (
    SELECT id FROM users WHERE CAST(id AS TEXT) = $text
    UNION SELECT id FROM users WHERE email = $text COLLATE NOCASE)
  SELECT id FROM exact
  UNION ALL SELECT id FROM users
   WHERE NOT EXISTS (SELECT 1 FROM exact) AND (name LIKE $part ESCAPE '\\' OR email LIKE $part ESCAPE '\\')
   ORDER BY id LIMIT 1000`;

/** Lists of posts as people look through them, and single posts whole, from a handle that cannot change them. */
export function openBrowseReads(options: OpenOptions) {
  const db = openMirrorReadOnly(options);
  db.pragma(`cache_size = -${CACHE_KB}`);
  const rowsOf = db.prepare<{ ids: string; beginning: number }, ListedPost>(ROWS);
  const boards = db.prepare<[], Choices['boards'][number]>('SELECT id, name, slug FROM boards ORDER BY name');
  const statuses = db.prepare<[], Choices['statuses'][number]>(`
    SELECT id, name, color FROM statuses ORDER BY id`);
  const tally = db.prepare<[], PostTally>(`
    SELECT board_id AS board, status_id AS status, count(*) AS posts FROM posts WHERE deleted_at IS NULL GROUP BY 1, 2`);
  const creator = db.prepare<[number], Person>('SELECT id, name FROM users WHERE id = ?');
  const creators = scalar(db)<{ text: string; part: string }, number>(CREATORS);
  const rows = (ids: readonly number[], beginning = BEGINNING): ListedPost[] => {
    const found = new Map(rowsOf.all({ ids: JSON.stringify(ids), beginning }).map((row) => [row.id, row]));
    return ids.flatMap((id) => found.get(id) ?? []);
  };
  const { list } = columnList(db);
  const page = (request: PageRequest): PostPage => {
    const { after, isBackward, limit, beginning } = request;
    const { places: found, posts } = list({ ...request, limit: limit + 1 });
    const shown = found.slice(0, limit);
    if (isBackward) shown.reverse();
    const isCut = found.length > limit;
    return {
      rows: rows(
        shown.map(({ id }) => id),
        beginning,
      ),
      next: isCut || isBackward ? (shown.at(-1) ?? null) : null,
      previous: (isBackward ? isCut : after) ? (shown[0] ?? null) : null,
      total: { posts, isMore: false },
    };
  };
  return {
    // One snapshot for a page, its rows and their number.
    page: db.transaction(page),
    /** Posts in the order of their ids here; what is not there is left out. */
    rows,
    choices: (): Choices => ({ boards: boards.all(), statuses: statuses.all() }),
    /** How many live posts each board has in each status. */
    tally: (): PostTally[] => tally.all(),
    creator: (id: number): Person | null => creator.get(id) ?? null,
    /** The person with this number or address, or those with it in their name or address. */
    creators(given: string): number[] {
      const text = given.trim();
      return creators.all({ text, part: `%${text.replaceAll(/[\\%_]/g, '\\$&')}%` });
    },
    /** Reads `plan=Pro` against the customers that were imported. */
    segment: segmentReader(db),
    company: companyReader(db, rows),
    pages: pagesReader(db, rows),
    people: peopleReader(db),
    post: wholePostReader(db),
    close: (): void => void db.close(),
  };
}

export interface RecentPost extends Pick<PostLine, 'id' | 'title' | 'url' | 'board' | 'status' | 'created'> {
  content: string;
  votes_count: number;
  /** When it was last seen to change in anything that its history tells about. */
  changed: string;
}

interface RecentFilter {
  /** By name or short name. */
  board: string | null;
  status: string | null;
  search: string | null;
  limit: number;
}

export type RecentPosts = ReturnType<typeof openRecentPosts>;

/** The newest live posts, for programs that read feeds. */
export function openRecentPosts(options: OpenOptions) {
  const db = openMirrorReadOnly(options);
  const recent = db.prepare<Omit<RecentFilter, 'search'> & { match: string | null }, RecentPost>(`
    SELECT p.id, p.title, p.content, p.url, b.name AS board, s.name AS status, p.votes_count, p.created, p.version_at AS changed
      FROM ${LINE_TABLES}
     WHERE p.deleted_at IS NULL
       AND ($board IS NULL OR b.name = $board COLLATE NOCASE OR b.slug = $board COLLATE NOCASE)
       AND ($status IS NULL OR s.name = $status COLLATE NOCASE)
       AND ($match IS NULL OR p.id IN (SELECT rowid FROM posts_text WHERE posts_text MATCH $match))
     ORDER BY p.created DESC, p.id DESC LIMIT $limit`);
  return {
    read({ search, ...filter }: RecentFilter): RecentPost[] {
      const match = search === null ? null : matchText(readTerms(search));
      return search !== null && match === null ? [] : recent.all({ ...filter, match });
    },
    close: (): void => void db.close(),
  };
}
