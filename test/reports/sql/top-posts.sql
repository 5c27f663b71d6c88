-- The rows are chosen from the narrow index before their texts are fetched.
WITH best AS (
  SELECT id, votes_count FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
     AND status_id NOT IN (SELECT value FROM json_each($finished))
     AND ($statuses = '[]' OR status_id IN (SELECT value FROM json_each($statuses)))
   ORDER BY votes_count DESC, id LIMIT $limit
)
SELECT p.id AS post, p.votes_count AS votes, p.comments_count AS comments, s.name AS status, b.name AS board,
       p.created, p.title
  FROM best JOIN posts p ON p.id = best.id
  JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
 ORDER BY best.votes_count DESC, p.id
