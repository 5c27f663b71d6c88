import type { Db } from '../../db/open.ts';
import { scalar } from '../../db/sql.ts';

/** A post with everything that is known of it. */
export interface WholePost {
  post: PostFacts;
  comments: CommentPage;
  /** The author, and the customers who commented; the team is left out. */
  askers: Asker[];
  /** What was seen of it, the oldest first; the last one is what it is now. */
  states: State[];
  /** Whether there were older ones than are shown. */
  isCut: boolean;
  /** Changes of its texts, the newest first. */
  edits: TextEdit[];
}

/** A post as a line of any list. */
export interface PostLine {
  id: number;
  title: string;
  /** As the upstream gave it: perhaps only a path. */
  url: string;
  board: string;
  boardSlug: string;
  status: string;
  statusColor: string;
  votes: number;
  comments: number;
  created: string;
}

/** The columns of such a line, and where they come from. */
export const LINE_COLUMNS = `p.id, p.title, p.url, b.name AS board, b.slug AS boardSlug, s.name AS status, s.color AS statusColor,
         p.votes_count AS votes, p.comments_count AS comments, p.created`;
export const LINE_TABLES = 'posts p JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id';

export interface PostFacts extends PostLine {
  content: string;
  creator: string | null;
  creatorId: number;
  creatorIsTeam: number;
  firstSeen: string;
  deleted: string | null;
  erased: string | null;
}

/** A post as a line of a list that people look through. */
export interface ListedPost extends PostLine {
  /** How the content begins. */
  beginning: string;
  creator: string | null;
  creatorId: number;
  changed: string;
  deleted: string | null;
}

export interface State {
  at: string;
  votes: number;
  comments: number;
  board: string | null;
  status: string | null;
  statusColor: string | null;
  deleted: number;
}

/** Null where that text stayed as it was. */
export interface TextEdit {
  at: string;
  title: PostChange | null;
  content: PostChange | null;
}

export interface PostChange {
  from: string;
  to: string;
}

export interface Asker {
  id: number;
  name: string | null;
  email: string | null;
  comments: number;
  isAuthor: number;
}

export interface CommentPage {
  rows: ShownComment[];
  /** All that are still there. */
  total: number;
  after: CommentPlace | null;
}

export interface CommentPlace {
  created: string;
  id: number;
}

export interface ShownComment {
  id: number;
  kind: string;
  /** JSON of whatever the upstream attached to a change of status. */
  status: string | null;
  likes: number;
  highlighted: number;
  internal: number;
  content: string;
  created: string;
  creator: string | null;
  creatorId: number;
  isTeam: number;
}

/** A post that moves with every pass has as many states; this many draw a curve as well as all. */
const MOST_STATES = 2000;
const MOST_EDITS = 50;
const COMMENTS = 50;

const POST = `
  SELECT ${LINE_COLUMNS}, p.content, u.name AS creator, p.creator_id AS creatorId, u.is_team OR u.is_admin AS creatorIsTeam,
         p.first_seen_at AS firstSeen, p.version_at AS at, p.deleted_at AS deleted, p.erased_at AS erased
    FROM ${LINE_TABLES} JOIN users u ON u.id = p.creator_id WHERE p.id = ?`;

const VERSIONS = `
  SELECT v.n, v.observed_at AS at, v.title, v.content, v.votes_count AS votes, v.comments_count AS comments, b.name AS board,
         s.name AS status, s.color AS statusColor, v.deleted
    FROM post_versions v LEFT JOIN boards b ON b.id = v.board_id LEFT JOIN statuses s ON s.id = v.status_id
   WHERE v.post_id = ? ORDER BY v.n DESC LIMIT ${MOST_STATES}`;

const COMMENT_PAGE = `
  SELECT c.id, c.kind, c.status, c.likes_count AS likes, c.highlighted, c.internal, c.content, c.created,
         u.name AS creator, c.creator_id AS creatorId, u.is_team OR u.is_admin AS isTeam
    FROM comments c JOIN users u ON u.id = c.creator_id
   WHERE c.post_id = $post AND c.deleted_at IS NULL AND (c.created, c.id) > ($created, $id)
   ORDER BY c.created, c.id LIMIT ${COMMENTS + 1}`;

const ASKERS = `
  WITH said AS (SELECT creator_id AS id, count(*) AS comments FROM comments
                 WHERE post_id = $post AND deleted_at IS NULL GROUP BY creator_id)
  SELECT u.id, u.name, u.email, coalesce(said.comments, 0) AS comments, u.id = p.creator_id AS isAuthor
    FROM posts p JOIN users u ON u.id = p.creator_id OR u.id IN (SELECT id FROM said) LEFT JOIN said ON said.id = u.id
   WHERE p.id = $post AND (u.id = p.creator_id OR NOT (u.is_team OR u.is_admin))
   ORDER BY isAuthor DESC, said.comments DESC, u.id LIMIT 100`;

type Version = State & { n: number; title: string | null; content: string | null };
type CommentQuestion = CommentPlace & { post: number };

/** Reads one post, deleted or not; null where there is none. Comments after a place are read alone. */
export function wholePostReader(db: Db): {
  whole(id: number): WholePost | null;
  comments(id: number, after: CommentPlace | null): CommentPage;
} {
  const facts = db.prepare<[number], PostFacts & { at: string }>(POST);
  const versions = db.prepare<[number], Version>(VERSIONS);
  const askers = db.prepare<{ post: number }, Asker>(ASKERS);
  const page = db.prepare<CommentQuestion, ShownComment>(COMMENT_PAGE);
  const total = scalar(db)<[number], number>(`
    SELECT count(*) FROM comments WHERE post_id = ? AND deleted_at IS NULL`);
  const comments = (post: number, after: CommentPlace | null): CommentPage => {
    const found = page.all({ post, ...(after ?? { created: '', id: 0 }) });
    const rows = found.slice(0, COMMENTS);
    const last = rows.at(-1);
    const isLast = found.length <= COMMENTS || !last;
    return {
      rows,
      total: total.get(post) ?? 0,
      after: isLast ? null : { created: last.created, id: last.id },
    };
  };
  const whole = (id: number): WholePost | null => {
    const found = facts.get(id);
    if (!found) return null;
    const { at, ...post } = found;
    const past = versions.all(id);
    return {
      post,
      comments: comments(id, null),
      askers: askers.all({ post: id }),
      states: [...past.map(stateOf).reverse(), presentOf(post, at)],
      isCut: past.length === MOST_STATES,
      edits: editsOf(past, post, at),
    };
  };
  return { whole: db.transaction(whole), comments };
}

function stateOf({ n: _n, title: _title, content: _content, ...state }: Version): State {
  return state;
}

function presentOf(post: PostFacts, at: string): State {
  const { votes, comments, board, status, statusColor, deleted } = post;
  return { at, votes, comments, board, status, statusColor, deleted: deleted === null ? 0 : 1 };
}

/** A version holds a text only if the next one changed it; so going back from the present tells every change. */
function editsOf(
  newestFirst: readonly Version[],
  { title, content }: PostFacts,
  changedAt: string,
): TextEdit[] {
  const edits: TextEdit[] = [];
  let next = { title, content, at: changedAt };
  for (const version of newestFirst) {
    const change = (from: string | null, to: string): PostChange | null =>
      from === null || from === to ? null : { from, to };
    const edit = { title: change(version.title, next.title), content: change(version.content, next.content) };
    if (edit.title || edit.content) edits.push({ at: next.at, ...edit });
    next = { title: version.title ?? next.title, content: version.content ?? next.content, at: version.at };
    if (edits.length === MOST_EDITS) break;
  }
  return edits;
}
