/** The columns of src/contract/wire.ts from the mirror, in the upstream's own spelling of times. */
const USER_COLUMNS = `u.id AS user_id, u.email AS user_email, u.name AS user_name, u.alias AS user_alias,
  coalesce(u.registered_raw, u.registered) AS user_registered, u.is_admin AS user_is_admin, u.is_team AS user_is_team,
  u.extra AS user_extra`;

/** Cross joins keep the order as it is written: the list is walked by its own key, whatever the statistics say. */
export const POSTS_FROM = `
  SELECT p.id, p.title, p.content, p.url, p.votes_count, p.comments_count,
         coalesce(p.created_raw, p.created) AS created, p.extra,
         b.id AS board_id, b.name AS board_name, b.url AS board_url, b.extra AS board_extra,
         s.id AS status_id, s.name AS status_name, s.color AS status_color, s.extra AS status_extra, ${USER_COLUMNS}
    FROM posts p CROSS JOIN boards b ON b.id = p.board_id CROSS JOIN statuses s ON s.id = p.status_id
    CROSS JOIN users u ON u.id = p.creator_id`;

export const COMMENTS_FROM = `
  SELECT c.id, c.kind, c.status, c.likes_count, coalesce(c.created_raw, c.created) AS created, c.highlighted,
         c.internal, c.content, c.extra,
         r.id AS post_id, r.title AS post_title, r.url AS post_url, r.extra AS post_extra, ${USER_COLUMNS}
    FROM comments c CROSS JOIN commented_posts r ON r.id = c.post_id CROSS JOIN users u ON u.id = c.creator_id`;
