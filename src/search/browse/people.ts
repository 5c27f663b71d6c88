import type { Db } from '../../db/open.ts';

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

const ORDER: Record<PeopleRequest['sort'], string> = {
  posts: 'posts DESC, comments DESC',
  comments: 'comments DESC, posts DESC',
  last: 'last DESC NULLS LAST',
  name: 'u.name COLLATE NOCASE NULLS LAST',
};

// One walk over the posts and one over the comments: neither has an index by its author.
const sqlOf = (sort: PeopleRequest['sort']): string => `
  WITH wrote AS (
    SELECT creator_id AS id, count(*) AS posts, 0 AS comments, max(created) AS last
      FROM posts WHERE deleted_at IS NULL GROUP BY creator_id
    UNION ALL
    SELECT creator_id, 0, count(*), max(created) FROM comments WHERE deleted_at IS NULL GROUP BY creator_id),
  sums AS (SELECT id, sum(posts) AS posts, sum(comments) AS comments, max(last) AS last FROM wrote GROUP BY id)
  SELECT u.id, u.name, u.email, u.is_team OR u.is_admin AS isTeam, s.company, s.plan, coalesce(sums.posts, 0) AS posts,
         coalesce(sums.comments, 0) AS comments, sums.last, count(*) OVER () AS total
    FROM users u LEFT JOIN sums ON sums.id = u.id
         LEFT JOIN people_segments l ON l.user_id = u.id LEFT JOIN segments s ON s.id = l.segment_id
   WHERE $text = '' OR u.name LIKE $part ESCAPE '\\' OR u.email LIKE $part ESCAPE '\\' OR CAST(u.id AS TEXT) = $text
   ORDER BY ${ORDER[sort]}, u.id LIMIT $limit OFFSET $offset`;

/** People with what they wrote, to look through and to search. */
export function peopleReader(db: Db): (request: PeopleRequest) => PeoplePage {
  return ({ text, sort, offset, limit }) => {
    const part = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
    const found = db
      .prepare<object, ListedPerson & { total: number }>(sqlOf(sort))
      .all({ text, part, limit, offset });
    const [first] = found;
    return { rows: found.map(({ total: _, ...row }) => row), total: first?.total ?? 0 };
  };
}
