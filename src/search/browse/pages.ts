import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';
import type { ListedPost } from './post.ts';
import { writtenReader } from './written.ts';

/** A board by status, as a roadmap shows it. */
export interface BoardView {
  board: { id: number; name: string; slug: string; url: string };
  posts: number;
  votes: number;
  columns: BoardColumn[];
}

export interface BoardColumn {
  status: { id: number; name: string; color: string };
  posts: number;
  votes: number;
  /** Those with the most votes. */
  top: ListedPost[];
}

/** A person with what they wrote. */
export interface PersonView {
  person: PersonFacts;
  posts: { total: number; votes: number; newest: ListedPost[] };
  comments: { total: number; newest: PersonComment[] };
  /** Their row of the customers file; null where it does not have them. */
  segment: PersonSegment | null;
}

interface PersonSegment {
  company: string | null;
  plan: string | null;
  value: number | null;
  valueName: string | null;
  /** Its further columns, as a JSON object of texts. */
  extra: string | null;
}

export interface PersonFacts {
  id: number;
  name: string | null;
  alias: string | null;
  email: string | null;
  isTeam: number;
  registered: string | null;
  firstSeen: string;
  /** What else the upstream tells of them, as JSON. */
  extra: string | null;
}

export interface PersonComment {
  id: number;
  postId: number;
  postTitle: string;
  content: string;
  created: string;
  internal: number;
}

const SEGMENT = `
  SELECT s.company, s.plan, s.value, s.value_name AS valueName, s.extra
    FROM people_segments l JOIN segments s ON s.id = l.segment_id WHERE l.user_id = ?`;

const TOP = 12;
const NEWEST = 50;

const PARTS = `
  SELECT p.status_id AS id, s.name, s.color, count(*) AS posts, sum(p.votes_count) AS votes
    FROM posts p JOIN statuses s ON s.id = p.status_id
   WHERE p.board_id = ? AND p.deleted_at IS NULL GROUP BY p.status_id ORDER BY p.status_id`;

const TOP_IDS = `
  SELECT id FROM posts WHERE board_id = ? AND status_id = ? AND deleted_at IS NULL
   ORDER BY votes_count DESC, id LIMIT ${TOP}`;

const PERSON = `
  SELECT id, name, alias, email, is_team OR is_admin AS isTeam, registered, first_seen_at AS firstSeen, extra
    FROM users WHERE id = ?`;

const COMMENTS = `
  SELECT c.id, c.post_id AS postId, coalesce(p.title, r.title) AS postTitle, c.content, c.created, c.internal
    FROM comments c JOIN commented_posts r ON r.id = c.post_id LEFT JOIN posts p ON p.id = c.post_id
   WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.created DESC, c.id DESC`;

interface Part {
  id: number;
  name: string;
  color: string;
  posts: number;
  votes: number;
}

/** Boards and people as pages of their own; null where there is none of that id. */
export function pagesReader(db: Db, rows: (ids: readonly number[]) => ListedPost[]) {
  const boardOf = db.prepare<[number], BoardView['board']>(`
    SELECT id, name, slug, url FROM boards WHERE id = ?`);
  const parts = db.prepare<[number], Part>(PARTS);
  const top = scalar(db)<[number, number], number>(TOP_IDS);
  const personOf = db.prepare<[number], PersonFacts>(PERSON);
  const segmentOf = db.prepare<[number], PersonSegment>(SEGMENT);
  const written = writtenReader(db);
  const commentRows = db.prepare<[string], PersonComment>(COMMENTS);
  const board = (id: number): BoardView | null => {
    const found = boardOf.get(id);
    if (!found) return null;
    const columns = parts.all(id).map(({ id: status, name, color, ...sums }) => ({
      status: { id: status, name, color },
      ...sums,
      top: rows(top.all(id, status)),
    }));
    const sum = (what: 'posts' | 'votes'): number => columns.reduce((n, column) => n + column[what], 0);
    return { board: found, posts: sum('posts'), votes: sum('votes'), columns };
  };
  const person = (id: number): PersonView | null => {
    const found = personOf.get(id);
    if (!found) return null;
    const { posts, comments } = written([id]);
    const votes = posts.reduce((sum, post) => sum + post.votes, 0);
    return {
      person: found,
      posts: { total: posts.length, votes, newest: rows(posts.slice(0, NEWEST).map((post) => post.id)) },
      comments: { total: comments.total, newest: commentRows.all(JSON.stringify(comments.newest(NEWEST))) },
      segment: segmentOf.get(id) ?? null,
    };
  };
  // One snapshot for each.
  return { board: db.transaction(board), person: db.transaction(person) };
}
