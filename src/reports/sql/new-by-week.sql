-- Days are counted first: the week of a day is worked out a few hundred times instead of a million.
WITH
week (monday) AS (SELECT value FROM json_each($weeks)),
day (day, board_id, posts, comments) AS (
  SELECT substr(created, 1, 10), board_id, count(*), 0 FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
   GROUP BY 1, 2
  UNION ALL
  SELECT substr(c.created, 1, 10), p.board_id, 0, count(*)
    FROM comments c JOIN posts p ON p.id = c.post_id
   WHERE c.deleted_at IS NULL AND c.created >= $since AND c.created < $until AND ($board IS NULL OR p.board_id = $board)
   GROUP BY 1, 2
),
counted AS (
  SELECT date(day, 'weekday 0', '-6 days') AS monday, board_id, sum(posts) AS posts, sum(comments) AS comments
    FROM day GROUP BY 1, 2
)
SELECT week.monday AS week, b.name AS board, coalesce(counted.posts, 0) AS posts, coalesce(counted.comments, 0) AS comments
  FROM week JOIN boards b ON $board IS NULL OR b.id = $board
  LEFT JOIN counted ON counted.monday = week.monday AND counted.board_id = b.id
 ORDER BY week.monday, b.name
