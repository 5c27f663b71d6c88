-- Every step of a post's votes happens when it was seen. The total at the end of a week is the total of now less all later
-- steps, so that only posts which changed since are looked at. A post that was older when it was first seen, or one that was
-- deleted, moves the total without being a gain.
WITH
week (monday) AS (SELECT value FROM json_each($weeks)),
told (post_id, created, n, at, votes, live) AS (
  SELECT p.id, p.created, v.n, v.observed_at, v.votes_count, v.deleted = 0
    FROM posts p JOIN post_versions v ON v.post_id = p.id
   WHERE p.version_at > $from AND ($board IS NULL OR p.board_id = $board)
  UNION ALL
  SELECT p.id, p.created, 9223372036854775807, p.version_at, p.votes_count, p.deleted_at IS NULL
    FROM posts p
   WHERE p.version_at > $from AND ($board IS NULL OR p.board_id = $board)
),
step (at, gained, delta) AS (
  SELECT at, votes - coalesce(lag(votes) OVER told_order, iif(created >= $from, 0, votes)),
         votes * live - coalesce(lag(votes * live) OVER told_order, 0)
    FROM told WINDOW told_order AS (PARTITION BY post_id ORDER BY n)
),
moved (monday, gained, delta) AS (
  SELECT date(day, 'weekday 0', '-6 days'), sum(gained), sum(delta)
    FROM (SELECT substr(at, 1, 10) AS day, sum(gained) AS gained, sum(delta) AS delta
            FROM step WHERE at > $from GROUP BY 1)
   GROUP BY 1
),
present AS (
  SELECT total(votes_count) AS votes FROM posts
   WHERE deleted_at IS NULL AND ($board IS NULL OR board_id = $board)
)
SELECT week.monday AS week,
       iif(date(week.monday, '+7 days') > $from AND week.monday <= $last,
           CAST((SELECT votes FROM present)
                - coalesce((SELECT sum(delta) FROM moved WHERE moved.monday > week.monday), 0) AS INTEGER), NULL) AS votes,
       iif(date(week.monday, '+7 days') > $from AND week.monday <= $last, coalesce(moved.gained, 0), NULL) AS gained
  FROM week LEFT JOIN moved ON moved.monday = week.monday
 ORDER BY 1
