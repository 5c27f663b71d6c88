-- Posts of customers in a status that is not an end, without a reply: team_replies says what one is.
WITH
team AS MATERIALIZED (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1),
best AS (
  SELECT id, votes_count FROM posts p
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
     AND ($statuses = '[]' OR status_id IN (SELECT value FROM json_each($statuses)))
     AND status_id NOT IN (SELECT value FROM json_each($finished)) AND creator_id NOT IN team
     AND NOT EXISTS (SELECT 1 FROM team_replies r WHERE r.post_id = p.id)
   ORDER BY votes_count DESC, id LIMIT $limit
)
SELECT p.id AS post, p.votes_count AS votes, unixepoch($now) - unixepoch(p.created) AS waiting,
       p.comments_count AS comments, s.name AS status, b.name AS board, p.title
  FROM best JOIN posts p ON p.id = best.id
  JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
 ORDER BY best.votes_count DESC, p.id
