import type { ChangeType } from '../change-log.ts';

/** A table in which somebody else may have written a person's address. */
export interface Place {
  table: string;
  key: string;
  words: readonly string[];
  json: readonly string[];
  /** The column that says when the row was last changed; null where none does. */
  dated: 'changed_at' | 'erased_at' | null;
  /** What tells consumers of the change feed, and the column with the id of the row it is about. */
  told?: { type: ChangeType; of: string };
}

/** Besides posts, the outbox and the quarantine, which have rules of their own. */
export const PLACES: readonly Place[] = [
  {
    table: 'comments',
    key: 'id',
    words: ['content'],
    json: ['extra', 'status'],
    dated: 'changed_at',
    told: { type: 'comment.erased', of: 'id' },
  },
  {
    table: 'comment_versions',
    key: 'n',
    words: ['content'],
    json: ['status'],
    dated: 'erased_at',
    told: { type: 'comment.erased', of: 'comment_id' },
  },
  {
    table: 'post_versions',
    key: 'n',
    words: ['title', 'content'],
    json: [],
    dated: 'erased_at',
    told: { type: 'post.erased', of: 'post_id' },
  },
  {
    table: 'commented_posts',
    key: 'id',
    words: ['title', 'url'],
    json: ['extra'],
    dated: 'changed_at',
    told: { type: 'post.erased', of: 'id' },
  },
  {
    table: 'users',
    key: 'id',
    words: ['name', 'alias'],
    json: ['extra'],
    dated: 'changed_at',
    told: { type: 'user.erased', of: 'id' },
  },
  { table: 'saved_queries', key: 'id', words: ['name', 'sql'], json: [], dated: 'changed_at' },
  { table: 'saved_views', key: 'id', words: ['name', 'address'], json: [], dated: 'changed_at' },
  { table: 'sync_runs', key: 'id', words: ['error'], json: [], dated: null },
  { table: 'changes', key: 'n', words: [], json: ['detail'], dated: null },
];
