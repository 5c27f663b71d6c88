-- Posts in a status that is not an end, made before $since, without a comment or a seen change after it. That a post was
-- first seen later than $since is no change: it has no earlier version then.
WITH
best AS (
  SELECT p.id, p.votes_count FROM posts p
   WHERE p.deleted_at IS NULL AND p.created < $since AND ($board IS NULL OR p.board_id = $board)
     AND ($statuses = '[]' OR p.status_id IN (SELECT value FROM json_each($statuses)))
     AND p.status_id NOT IN (SELECT value FROM json_each($finished))
     AND (p.version_at < $since OR NOT EXISTS (SELECT 1 FROM post_versions v WHERE v.post_id = p.id))
     AND NOT EXISTS (SELECT 1 FROM comments c WHERE c.post_id = p.id AND c.created >= $since AND c.deleted_at IS NULL)
   ORDER BY p.votes_count DESC, p.id LIMIT $limit
)
SELECT p.id AS post, p.votes_count AS votes,
       max(p.created,
           coalesce((SELECT max(c.created) FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL), ''),
           iif(EXISTS (SELECT 1 FROM post_versions v WHERE v.post_id = p.id), p.version_at, '')) AS last_activity,
       s.name AS status, b.name AS board, p.title
  FROM best JOIN posts p ON p.id = best.id
  JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
 ORDER BY best.votes_count DESC, p.id
