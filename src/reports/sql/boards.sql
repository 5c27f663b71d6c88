-- The boards side by side; the trend is that of new posts, a number a week, the running one last.
WITH
team AS MATERIALIZED (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1),
answered AS MATERIALIZED (
  SELECT DISTINCT post_id FROM comments WHERE deleted_at IS NULL AND internal = 0 AND creator_id IN team
),
part AS MATERIALIZED (
  SELECT board_id, count(*) AS posts, sum(votes_count) AS votes, sum(comments_count) AS comments,
         sum(status_id IN (SELECT value FROM json_each($delivered))) AS delivered,
         sum(creator_id NOT IN team) AS asked, sum(creator_id NOT IN team AND id IN answered) AS replied
    FROM posts WHERE deleted_at IS NULL GROUP BY board_id
),
total AS (SELECT total(votes) AS votes FROM part),
week (monday) AS (SELECT value FROM json_each($weeks)),
day AS (
  SELECT board_id, substr(created, 1, 10) AS day, count(*) AS posts FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until GROUP BY 1, 2
),
fresh AS (SELECT board_id, date(day, 'weekday 0', '-6 days') AS monday, sum(posts) AS posts FROM day GROUP BY 1, 2)
SELECT b.name AS board, part.posts, part.votes, 1.0 * part.votes / part.posts AS votes_a_post,
       part.votes / nullif((SELECT votes FROM total), 0) AS vote_share, part.comments,
       1.0 * part.replied / nullif(part.asked, 0) AS answered, 1.0 * part.delivered / part.posts AS delivered,
       (SELECT json_group_array(coalesce(fresh.posts, 0))
          FROM (SELECT monday FROM week ORDER BY monday) AS w
          LEFT JOIN fresh ON fresh.monday = w.monday AND fresh.board_id = b.id) AS new_posts
  FROM part JOIN boards b ON b.id = part.board_id
 ORDER BY part.votes DESC, b.id
