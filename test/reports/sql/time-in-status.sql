-- A stay begins when the post was seen to enter the status, or when it was made, if the mirror was watching by then. A stay
-- whose beginning nobody saw is not counted: it would be too short.
WITH
change AS (
  SELECT p.id, p.created, v.n, v.status_id,
         coalesce(lead(v.status_id) OVER post_order, p.status_id) AS next_status,
         coalesce(lead(v.observed_at) OVER post_order, p.version_at) AS left_at
    FROM post_versions v JOIN posts p ON p.id = v.post_id
   WHERE p.deleted_at IS NULL AND p.created < $now AND ($board IS NULL OR p.board_id = $board)
  WINDOW post_order AS (PARTITION BY v.post_id ORDER BY v.n)
),
finished AS MATERIALIZED (
  SELECT id, status_id, left_at,
         coalesce(lag(left_at) OVER (PARTITION BY id ORDER BY n), iif(created >= $observed, created, NULL)) AS entered_at
    FROM change WHERE status_id <> next_status
),
stay AS (
  SELECT status_id, unixepoch(left_at) - unixepoch(entered_at) AS seconds
    FROM finished WHERE entered_at IS NOT NULL AND left_at >= $since AND left_at < $until
),
past AS (
  SELECT status_id, count(*) AS stays, median(seconds) AS middle, percentile(seconds, 90) AS slow FROM stay GROUP BY status_id
),
latest AS MATERIALIZED (SELECT id, max(left_at) AS entered_at FROM finished GROUP BY id),
waiting AS (
  SELECT p.status_id, count(*) AS posts,
         median(unixepoch($now) - unixepoch(coalesce(latest.entered_at, iif(p.created >= $observed, p.created, NULL)))) AS middle
    FROM posts p LEFT JOIN latest ON latest.id = p.id
   WHERE p.deleted_at IS NULL AND p.created < $now AND ($board IS NULL OR p.board_id = $board)
   GROUP BY p.status_id
),
status AS (
  SELECT id, name || iif(count(*) OVER (PARTITION BY name) > 1, ' (#' || id || ')', '') AS name FROM statuses
)
SELECT s.name AS status, coalesce(past.stays, 0) AS stays, past.middle AS median, past.slow AS p90,
       coalesce(waiting.posts, 0) AS now_in_it, waiting.middle AS median_so_far
  FROM status s LEFT JOIN past ON past.status_id = s.id LEFT JOIN waiting ON waiting.status_id = s.id
 WHERE past.stays > 0 OR waiting.posts > 0
 ORDER BY past.middle DESC NULLS LAST, s.id
