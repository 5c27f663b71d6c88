import { iso } from '../../base/clock.ts';
import type { Db } from '../../db/open.ts';
import { keptUntilWritten, scalar } from '../../db/sql.ts';
import { columnReader, type Packed } from '../../mirror/index/columns.ts';
import { firstBy, numberedIds, rowsUpTo } from '../../mirror/index/select.ts';

export const PEOPLE_SORTS = ['posts', 'comments', 'last', 'name'] as const;

export interface PeopleRequest {
  /** A part of a name or address, or a number; empty for everybody. */
  text: string;
  sort: (typeof PEOPLE_SORTS)[number];
  offset: number;
  limit: number;
}

/** A person as a line of a list. */
export interface ListedPerson {
  id: number;
  name: string | null;
  email: string | null;
  isTeam: number;
  /** Of the customers file that was imported; null where it does not have them. */
  company: string | null;
  plan: string | null;
  posts: number;
  comments: number;
  /** When they last wrote; null for those who wrote nothing that is still there. */
  last: string | null;
}

export interface PeoplePage {
  rows: ListedPerson[];
  total: number;
}

const PEOPLE = `
  SELECT id FROM users
   WHERE $text = '' OR name LIKE $part ESCAPE '\\' OR email LIKE $part ESCAPE '\\' OR CAST(id AS TEXT) = $text`;

const ROWS = `
  SELECT u.id, u.name, u.email, u.is_team OR u.is_admin AS isTeam, s.company, s.plan
    FROM users u LEFT JOIN people_segments l ON l.user_id = u.id LEFT JOIN segments s ON s.id = l.segment_id
   WHERE u.id IN (SELECT value FROM json_each(?))`;

type Named = Omit<ListedPerson, 'posts' | 'comments' | 'last'>;

/** People with what they wrote, to look through and to search. */
export function peopleReader(db: Db): (request: PeopleRequest) => PeoplePage {
  const wroteOf = wroteReader(db);
  const found = scalar(db)<object, number>(`${PEOPLE} ORDER BY id`);
  const byName = scalar(db)<object, number>(`${PEOPLE} ORDER BY name COLLATE NOCASE NULLS LAST, id`);
  const rowsOf = db.prepare<[string], Named>(ROWS);
  return db.transaction(({ text, sort, offset, limit }: PeopleRequest) => {
    const part = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
    const wrote = wroteOf();
    const ids = (sort === 'name' ? byName : found).all({ text, part });
    const shown = (sort === 'name' ? ids : mostFirst(ids, offset + limit, wrote, sort)).slice(
      offset,
      offset + limit,
    );
    const named = new Map(rowsOf.all(JSON.stringify(shown)).map((row) => [row.id, row]));
    const rows = shown.flatMap((id): ListedPerson[] => {
      const [person, { last, ...counts }] = [named.get(id), wrote(id)];
      return person ? [{ ...person, ...counts, last: last === 0 ? null : iso(last) }] : [];
    });
    return { rows, total: ids.length };
  });
}

interface Wrote {
  posts: number;
  comments: number;
  /** Milliseconds since the epoch; 0 for never. */
  last: number;
}

/** Posts before comments, or the other way round: nobody wrote so many that they would meet in one number. */
function weightOf({ posts, comments, last }: Wrote, sort: Exclude<PeopleRequest['sort'], 'name'>): number {
  if (sort === 'last') return last;
  return sort === 'posts' ? posts * 2 ** 26 + comments : comments * 2 ** 26 + posts;
}

function mostFirst(
  ids: readonly number[],
  limit: number,
  wrote: (id: number) => Wrote,
  sort: Exclude<PeopleRequest['sort'], 'name'>,
): number[] {
  const weights = new Float64Array(ids.length);
  for (const [place, id] of ids.entries()) weights[place] = weightOf(wrote(id), sort);
  const weight = (place: number): number => weights[place] ?? 0;
  const found = firstBy(rowsUpTo(ids.length), limit, { weight, ties: (a, b) => a - b });
  return found.map((place) => ids[place] ?? 0);
}

/** What each person wrote. No table has an index by author: columns of reports are added up, once while the mirror stays the same. */
function wroteReader(db: Db): () => (id: number) => Wrote {
  const columns = columnReader(db);
  return keptUntilWritten(db, () => {
    const [posts, comments] = [columns.read('posts', NAMES), columns.read('comments', NAMES)];
    const { placeOf, size } = numberedIds(posts.creator, comments.creator);
    const last = new Float64Array(size);
    const count = ({ rows, creator, created, gone }: Packed<(typeof NAMES)[number]>): Int32Array => {
      const counts = new Int32Array(size);
      for (let i = 0; i < rows; i++) {
        if (gone[i] === 1) continue;
        const [place, at] = [placeOf(creator[i] ?? 0), created[i] ?? 0];
        counts[place] = (counts[place] ?? 0) + 1;
        if (at > (last[place] ?? 0)) last[place] = at;
      }
      return counts;
    };
    const sums = { posts: count(posts), comments: count(comments) };
    return (id) => {
      const place = placeOf(id);
      return {
        posts: sums.posts[place] ?? 0,
        comments: sums.comments[place] ?? 0,
        last: last[place] ?? 0,
      };
    };
  });
}

const NAMES = ['creator', 'created', 'gone'] as const;
