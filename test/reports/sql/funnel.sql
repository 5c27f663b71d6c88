-- A post reached a status when it is in it now, or was once seen in it.
WITH
-- By board first, in the order of the index: a million rows are counted without being sorted.
part AS (
  SELECT board_id, status_id, count(*) AS posts, sum(votes_count) AS votes FROM posts
   WHERE deleted_at IS NULL AND created < $now AND ($board IS NULL OR board_id = $board) GROUP BY board_id, status_id
),
present AS MATERIALIZED (SELECT status_id, sum(posts) AS posts, sum(votes) AS votes FROM part GROUP BY status_id),
left_behind AS (
  SELECT v.status_id, count(DISTINCT v.post_id) AS posts
    FROM post_versions v JOIN posts p ON p.id = v.post_id
   WHERE v.status_id <> p.status_id AND p.deleted_at IS NULL AND p.created < $now
     AND ($board IS NULL OR p.board_id = $board)
   GROUP BY v.status_id
),
total AS (SELECT total(posts) AS posts FROM present),
status AS (
  SELECT id, name || iif(count(*) OVER (PARTITION BY name) > 1, ' (#' || id || ')', '') AS name FROM statuses
)
SELECT s.name AS status, coalesce(present.posts, 0) AS posts, coalesce(present.votes, 0) AS votes,
       coalesce(present.posts, 0) / nullif((SELECT posts FROM total), 0) AS share,
       iif($from IS NULL, NULL, coalesce(present.posts, 0) + coalesce(left_behind.posts, 0)) AS ever,
       iif($from IS NULL, NULL,
           (coalesce(present.posts, 0) + coalesce(left_behind.posts, 0)) / nullif((SELECT posts FROM total), 0)) AS ever_share
  FROM status s LEFT JOIN present ON present.status_id = s.id LEFT JOIN left_behind ON left_behind.status_id = s.id
 WHERE present.posts > 0 OR left_behind.posts > 0
 ORDER BY coalesce(present.posts, 0) + iif($from IS NULL, 0, coalesce(left_behind.posts, 0)) DESC, s.id
