-- Customers by the votes on what they asked for, with the post that has the most of them: the oldest where several have.
WITH
asked AS (
  SELECT creator_id, count(*) AS posts, sum(votes_count) AS votes,
         sum(status_id IN (SELECT value FROM json_each($delivered))) AS delivered, max(printf('%020d', votes_count) || printf('%020d', 99999999999 - id)) AS most, id AS top_id
    FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
     AND ($statuses = '[]' OR status_id IN (SELECT value FROM json_each($statuses)))
     AND creator_id NOT IN (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1)
   GROUP BY creator_id ORDER BY votes DESC, creator_id LIMIT $limit
)
SELECT u.name AS customer, u.email, asked.posts, asked.votes, asked.delivered, asked.top_id AS top_post, p.title AS top_title
  FROM asked JOIN users u ON u.id = asked.creator_id JOIN posts p ON p.id = asked.top_id
 ORDER BY asked.votes DESC, u.id
