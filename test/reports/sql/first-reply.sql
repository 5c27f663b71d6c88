-- Posts of customers, by the week they arrived in, and the first reply to each: team_replies says what a reply is.
WITH
team AS MATERIALIZED (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1),
week AS MATERIALIZED (
  SELECT value ->> 'date' AS date, value ->> 'begins' AS begins, value ->> 'ends' AS ends, value ->> 'partial' AS partial
    FROM json_each($weeks)
),
arrival AS (
  SELECT p.created, (SELECT min(r.created) FROM team_replies r WHERE r.post_id = p.id) AS replied
    FROM posts p
   WHERE p.deleted_at IS NULL AND p.created >= $since AND p.created < $until AND p.creator_id NOT IN team
     AND ($board IS NULL OR p.board_id = $board)
     AND ($statuses = '[]' OR p.status_id IN (SELECT value FROM json_each($statuses)))
),
-- A reply can be older than its post where two posts were made one.
waited AS (SELECT created, max(0, unixepoch(replied) - unixepoch(created)) AS seconds FROM arrival),
counted AS (
  SELECT week.date, count(*) AS posts, count(seconds) AS answered, median(seconds) AS middle, percentile(seconds, 90) AS slow
    FROM waited JOIN week ON waited.created >= week.begins AND waited.created < week.ends GROUP BY 1
)
SELECT week.date AS week, coalesce(counted.posts, 0) AS posts, coalesce(counted.answered, 0) AS answered,
       1.0 * counted.answered / counted.posts AS share, counted.middle AS median, counted.slow AS p90, week.partial
  FROM week LEFT JOIN counted ON counted.date = week.date
 ORDER BY 1
