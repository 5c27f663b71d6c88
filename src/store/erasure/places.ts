/** A table in which somebody else may have written a person's address. */
export interface Place {
  table: string;
  key: string;
  words: readonly string[];
  json: readonly string[];
  dated: boolean;
}

/** Besides posts, the outbox and the quarantine, which have rules of their own. */
export const PLACES: readonly Place[] = [
  { table: 'comments', key: 'id', words: ['content'], json: ['extra', 'status'], dated: true },
  { table: 'comment_versions', key: 'n', words: ['content'], json: ['status'], dated: false },
  { table: 'post_versions', key: 'n', words: ['title', 'content'], json: [], dated: false },
  { table: 'commented_posts', key: 'id', words: ['title', 'url'], json: ['extra'], dated: true },
  { table: 'users', key: 'id', words: ['name', 'alias'], json: ['extra'], dated: true },
  { table: 'saved_queries', key: 'id', words: ['name', 'sql'], json: [], dated: true },
  { table: 'sync_runs', key: 'id', words: ['error'], json: [], dated: false },
];
