/** The columns of src/contract/wire.ts from the sandbox's world. */
export const USER_COLUMNS = `u.id AS user_id, u.email AS user_email, u.name AS user_name, u.alias AS user_alias,
  u.registered AS user_registered, u.is_admin AS user_is_admin, u.is_team AS user_is_team, u.extra AS user_extra`;

/** comments_count is counted, never kept: it cannot be wrong. */
export const POST_SELECT = `p.id, p.title, p.content, p.votes_count, p.created, p.extra,
    (SELECT count(*) FROM comments c WHERE c.post_id = p.id) AS comments_count,
    '/b/' || b.slug || '/p/' || p.id || '/' AS url,
    b.id AS board_id, b.name AS board_name, '/b/' || b.slug || '/' AS board_url,
    s.id AS status_id, s.name AS status_name, s.color AS status_color, ${USER_COLUMNS}`;

export const POST_JOINS = `JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
  JOIN users u ON u.id = p.creator_id`;

export const COMMENT_SELECT = `c.id, c.kind, c.status, c.likes_count, c.created, c.highlighted, c.internal, c.content,
    c.extra, c.post_id, p.title AS post_title, '/b/' || b.slug || '/p/' || p.id || '/' AS post_url, ${USER_COLUMNS}`;

export const COMMENT_JOINS = `JOIN posts p ON p.id = c.post_id JOIN boards b ON b.id = p.board_id
  JOIN users u ON u.id = c.creator_id`;

/** `2024-05-06T07:08:09.123456Z`: the API's spelling, six digits of a second and a Z. */
export function stamp(ms: number, micros = 0): string {
  const iso = new Date(ms).toISOString();
  return `${iso.slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
}
