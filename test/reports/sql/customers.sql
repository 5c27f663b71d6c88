-- Whoever is not of the team and wrote something in the period.
WITH
act (creator_id, post, comment, created) AS (
  SELECT creator_id, 1, 0, created FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
  UNION ALL
  SELECT c.creator_id, 0, 1, c.created FROM comments c
   WHERE c.deleted_at IS NULL AND c.created >= $since AND c.created < $until
     AND ($board IS NULL OR (SELECT p.board_id FROM posts p WHERE p.id = c.post_id) = $board)
),
active AS (
  SELECT creator_id, sum(post) AS posts, sum(comment) AS comments, max(created) AS last_active
    FROM act WHERE creator_id NOT IN (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1)
   GROUP BY creator_id
)
SELECT u.name AS customer, u.email, active.posts, active.comments, active.posts + active.comments AS wrote, active.last_active
  FROM active JOIN users u ON u.id = active.creator_id
 ORDER BY wrote DESC, active.posts DESC, u.id LIMIT $limit
