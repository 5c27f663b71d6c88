-- Every step of a post's votes happens when it was seen. The total at the end of a week is the total of now less all later
-- steps, so that only posts which changed since are looked at. A post that was older when it was first seen, or one that was
-- deleted, moves the total without being a gain.
WITH
week (monday) AS (SELECT value FROM json_each($weeks)),
changed AS MATERIALIZED (
  SELECT id, created, board_id, votes_count, version_at, deleted_at FROM posts
   WHERE version_at > $from AND ($board IS NULL OR board_id = $board)
),
told (post_id, created, n, at, votes, live) AS (
  SELECT p.id, p.created, v.n, v.observed_at, v.votes_count, v.deleted = 0
    FROM changed p CROSS JOIN post_versions v ON v.post_id = p.id
   WHERE v.observed_at > $from
  UNION ALL
  SELECT id, created, 9223372036854775807, version_at, votes_count, deleted_at IS NULL FROM changed
),
-- What a post had before, looked up: a window over all of them would sort a million rows.
step (at, gained, delta) AS (
  SELECT at, votes - coalesce(before.votes_count, iif(created >= $from, 0, votes)),
         votes * live - coalesce(before.votes_count * (before.deleted = 0), 0)
    FROM told LEFT JOIN post_versions before
      ON before.n = (SELECT v.n FROM post_versions v
                      WHERE v.post_id = told.post_id AND v.n < told.n ORDER BY v.n DESC LIMIT 1)
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
