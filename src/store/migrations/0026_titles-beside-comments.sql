-- A post that is gone from its list is not read any more; beside its comments the title may still be, and change.
DROP VIEW live_comments;
CREATE VIEW live_comments AS
SELECT c.id, c.post_id, coalesce(CASE WHEN p.deleted_at IS NULL THEN p.title END, r.title) AS post_title, b.name AS board,
       c.creator_id, u.name AS creator, u.email AS creator_email, u.is_team AS creator_is_team,
       c.kind, c.status, c.likes_count, c.highlighted, c.internal, c.content, c.created, c.extra,
       c.first_seen_at, c.changed_at
  FROM comments c
  JOIN users u ON u.id = c.creator_id
  JOIN commented_posts r ON r.id = c.post_id
  LEFT JOIN posts p ON p.id = c.post_id
  LEFT JOIN boards b ON b.id = p.board_id
 WHERE c.deleted_at IS NULL;
