-- Counted by the hour first: the week of an hour is looked up a few thousand times instead of a million.
WITH
week AS MATERIALIZED (
  SELECT value ->> 'date' AS date, value ->> 'begins' AS begins, value ->> 'ends' AS ends, value ->> 'partial' AS partial
    FROM json_each($weeks)
),
slot (slot, board_id, posts, comments) AS (
  SELECT substr(created, 1, $slot), board_id, count(*), 0 FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
   GROUP BY 1, 2
  UNION ALL
  -- A comment can stand on a post that the mirror does not have.
  SELECT substr(c.created, 1, $slot), p.board_id, 0, count(*)
    FROM comments c LEFT JOIN posts p ON p.id = c.post_id
   WHERE c.deleted_at IS NULL AND c.created >= $since AND c.created < $until AND ($board IS NULL OR p.board_id = $board)
   GROUP BY 1, 2
),
counted AS MATERIALIZED (
  SELECT week.date, slot.board_id, sum(slot.posts) AS posts, sum(slot.comments) AS comments
    FROM slot JOIN week ON slot.slot >= week.begins AND slot.slot < week.ends GROUP BY 1, 2
),
board (id, name) AS (
  SELECT id, name || iif(count(*) OVER (PARTITION BY name) > 1, ' (' || slug || ')', '') FROM boards
  UNION ALL
  SELECT NULL, NULL WHERE EXISTS (SELECT 1 FROM counted WHERE board_id IS NULL)
)
SELECT week.date AS week, b.name AS board, iif(week.begins > coalesce($last, $observed), nullif(coalesce(counted.posts, 0), 0), coalesce(counted.posts, 0)) AS posts,
       iif(week.begins > $last_comments, nullif(coalesce(counted.comments, 0), 0), coalesce(counted.comments, 0)) AS comments,
       week.partial
  FROM week JOIN board b ON $board IS NULL OR b.id = $board
  LEFT JOIN counted ON counted.date = week.date AND counted.board_id IS b.id
 ORDER BY week.date, b.name NULLS LAST, b.id
