import Database from 'better-sqlite3';

export type Cell = string | number | null;

/** What every loop writes: the columns that `export posts` has. */
export const COLUMNS =
  `id title content url creator_id creator creator_email board_id board status_id status votes_count
  comments_count created created_raw extra first_seen_at changed_at deleted_at erased_at`.split(/\s+/);

/** The posts of a mirror in the order of their ids. */
export function posts(mirror: string) {
  return new Database(mirror, { readonly: true }).prepare<[], unknown>(`
    SELECT p.id, p.title, p.content, p.url, p.creator_id, u.name AS creator, u.email AS creator_email, p.board_id,
           b.name AS board, p.status_id, s.name AS status, p.votes_count, p.comments_count, p.created, p.created_raw,
           p.extra, p.first_seen_at, p.changed_at, p.deleted_at, p.erased_at
      FROM posts p CROSS JOIN users u ON u.id = p.creator_id CROSS JOIN boards b ON b.id = p.board_id
           CROSS JOIN statuses s ON s.id = p.status_id
     ORDER BY p.id`);
}
