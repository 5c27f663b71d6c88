-- What was written in a period and in the one before it, by the hour; people are counted over the whole of each.
WITH
team AS MATERIALIZED (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1),
act (creator_id, slot, is_recent, is_post) AS MATERIALIZED (
  SELECT creator_id, substr(created, 1, $slot), created >= $since, 1 FROM posts
   WHERE deleted_at IS NULL AND created >= $prior AND created < $until AND ($board IS NULL OR board_id = $board)
  UNION ALL
  SELECT c.creator_id, substr(c.created, 1, $slot), c.created >= $since, 0 FROM comments c
   WHERE c.deleted_at IS NULL AND c.created >= $prior AND c.created < $until
     AND ($board IS NULL OR (SELECT p.board_id FROM posts p WHERE p.id = c.post_id) = $board)
)
SELECT slot, is_recent AS isRecent, sum(is_post) AS posts, sum(NOT is_post) AS comments, NULL AS customers
  FROM act GROUP BY 1, 2
UNION ALL
SELECT NULL, is_recent, NULL, NULL, count(DISTINCT creator_id) FROM act WHERE creator_id NOT IN team GROUP BY 2
