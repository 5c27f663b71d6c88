-- Posts of customers, by the week they arrived in; a reply is a comment of the team that the customer can see.
WITH
team AS MATERIALIZED (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1),
week (monday) AS (SELECT value FROM json_each($weeks)),
arrival AS (
  SELECT p.created,
         (SELECT min(c.created) FROM comments c
           WHERE c.post_id = p.id AND c.created >= p.created AND c.deleted_at IS NULL AND c.internal = 0
             AND c.creator_id IN team AND c.creator_id <> p.creator_id) AS answered
    FROM posts p
   WHERE p.deleted_at IS NULL AND p.created >= $since AND p.created < $until AND p.creator_id NOT IN team
     AND ($board IS NULL OR p.board_id = $board)
),
counted AS (
  SELECT date(substr(created, 1, 10), 'weekday 0', '-6 days') AS monday, count(*) AS posts, count(answered) AS answered,
         median(unixepoch(answered) - unixepoch(created)) AS middle,
         percentile(unixepoch(answered) - unixepoch(created), 90) AS slow
    FROM arrival GROUP BY 1
)
SELECT week.monday AS week, coalesce(counted.posts, 0) AS posts, coalesce(counted.answered, 0) AS answered,
       1.0 * counted.answered / counted.posts AS share, counted.middle AS median, counted.slow AS p90
  FROM week LEFT JOIN counted ON counted.monday = week.monday
 ORDER BY 1
