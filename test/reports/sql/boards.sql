-- The boards side by side; the trend is that of new posts, a number a week, the running one last. team_replies says what a
-- reply is.
WITH
team AS MATERIALIZED (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1),
answered AS MATERIALIZED (SELECT DISTINCT post_id FROM team_replies),
part AS MATERIALIZED (
  SELECT board_id, count(*) AS posts, sum(votes_count) AS votes, sum(comments_count) AS comments,
         sum(status_id IN (SELECT value FROM json_each($delivered))) AS delivered,
         sum(creator_id NOT IN team) AS asked, sum(creator_id NOT IN team AND id IN answered) AS replied
    FROM posts WHERE deleted_at IS NULL AND created < $now GROUP BY board_id
),
total AS (SELECT total(votes) AS votes FROM part),
week AS MATERIALIZED (
  SELECT value ->> 'date' AS date, value ->> 'begins' AS begins, value ->> 'ends' AS ends FROM json_each($weeks)
),
slot AS (
  SELECT board_id, substr(created, 1, $slot) AS slot, count(*) AS posts FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until GROUP BY 1, 2
),
fresh AS MATERIALIZED (
  SELECT slot.board_id, week.date, sum(slot.posts) AS posts
    FROM slot JOIN week ON slot.slot >= week.begins AND slot.slot < week.ends GROUP BY 1, 2
),
board AS (
  SELECT id, name || iif(count(*) OVER (PARTITION BY name) > 1, ' (' || slug || ')', '') AS name FROM boards
)
SELECT b.name AS board, part.posts, part.votes, 1.0 * part.votes / part.posts AS votes_a_post,
       part.votes / nullif((SELECT votes FROM total), 0) AS vote_share, part.comments,
       1.0 * part.replied / nullif(part.asked, 0) AS answered, 1.0 * part.delivered / part.posts AS delivered,
       (SELECT json_group_array(coalesce(fresh.posts, 0))
          FROM (SELECT date FROM week WHERE begins <= coalesce($last, $observed) ORDER BY date) AS w
          LEFT JOIN fresh ON fresh.date = w.date AND fresh.board_id = b.id) AS new_posts
  FROM part JOIN board b ON b.id = part.board_id
 ORDER BY part.votes DESC, b.id
