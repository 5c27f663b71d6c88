/**
 * The types that programs outside may rely on. They are written out here, and name no type of the rest: what is not on this page is not
 * public. The compiler checks that the program's own rows fit.
 */

export interface User {
  id: number;
  email: string | null;
  name: string | null;
  alias: string | null;
  registered: string | null;
  is_admin: boolean;
  is_team: boolean;
}

export interface Board {
  id: number;
  name: string;
  url: string;
}

export interface Status {
  id: number;
  name: string;
  color: string;
}

export interface Post {
  id: number;
  title: string;
  content: string;
  url: string;
  creator: User;
  board: Board;
  status: Status;
  votes_count: number;
  comments_count: number;
  created: string;
}

export interface Comment {
  id: number;
  kind: string;
  status: unknown;
  likes_count: number;
  created: string;
  highlighted: boolean;
  internal: boolean;
  content: string;
  post: { id: number; title: string; url: string };
  creator: User;
}

/** A post to create. */
export interface NewPost {
  /** The short part of the board's URL. */
  board: string;
  title: string;
  content: string;
}

/** A post to create in the name of a customer. */
export interface NewPostAsUser extends NewPost {
  email: string;
  full_name: string;
}

/** Which mirror to read. */
export interface MirrorFile {
  /** Path of `mirror.db`. */
  file: string;
  /** FEEDBACK_BASE_URL of that mirror; left out for a mirror of the built-in sandbox. */
  baseUrl?: string;
}

type Value = string | number | boolean | null;

/** The present state of the post of a change. */
export interface ChangedPost {
  id: number;
  title: string;
  url: string;
  board_id: number;
  board: string;
  board_slug: string;
  status_id: number;
  status: string;
  votes_count: number;
  comments_count: number;
  creator_id: number;
  created: string;
  deleted: boolean;
}

/** One change of the mirror. docs/changes.md describes the fields and the types. */
export interface Change {
  number: number;
  position: string;
  type: string;
  /** When the mirror saw it. */
  time: string;
  post_id?: number;
  comment_id?: number;
  user_id?: number;
  board_id?: number;
  status_id?: number;
  outbox_id?: number;
  run_id?: number;
  before?: Record<string, Value>;
  after?: Record<string, Value>;
  /** The present state of the row. */
  post?: ChangedPost;
  comment?: Record<string, Value>;
  outbox?: Record<string, Value>;
  sync?: Record<string, Value>;
}
