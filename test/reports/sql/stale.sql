-- Posts in a status that is not an end, made before $since, without a comment, vote, edit or new status after it. That a post was
-- first seen later than $since is no change: it has no earlier version then.
WITH
told (post_id, n, at, votes, status_id, words) AS (
  SELECT post_id, n, observed_at, votes_count, status_id, title IS NOT NULL OR content IS NOT NULL FROM post_versions
  UNION ALL
  SELECT id, 9223372036854775807, version_at, votes_count, status_id, 0 FROM posts
),
step AS (
  SELECT post_id, at, votes, status_id, lag(votes) OVER post_order AS votes_before, lag(status_id) OVER post_order AS status_before,
         lag(words) OVER post_order AS was_edited
    FROM told WINDOW post_order AS (PARTITION BY post_id ORDER BY n)
),
active AS MATERIALIZED (
  SELECT post_id, max(at) AS at FROM step
   WHERE votes_before IS NOT NULL AND (votes <> votes_before OR status_id <> status_before OR was_edited) GROUP BY 1
),
best AS (
  SELECT p.id, p.votes_count FROM posts p
   WHERE p.deleted_at IS NULL AND p.created < $since AND ($board IS NULL OR p.board_id = $board)
     AND ($statuses = '[]' OR p.status_id IN (SELECT value FROM json_each($statuses)))
     AND p.status_id NOT IN (SELECT value FROM json_each($finished))
     AND coalesce((SELECT at FROM active WHERE post_id = p.id), '') < $since
     AND NOT EXISTS (SELECT 1 FROM comments c WHERE c.post_id = p.id AND c.created >= $since AND c.deleted_at IS NULL)
   ORDER BY p.votes_count DESC, p.id LIMIT $limit
)
SELECT p.id AS post, p.votes_count AS votes,
       max(p.created,
           coalesce((SELECT max(c.created) FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL), ''),
           coalesce((SELECT at FROM active WHERE post_id = p.id), '')) AS last_activity,
       s.name AS status, b.name AS board, p.title
  FROM best JOIN posts p ON p.id = best.id
  JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
 ORDER BY best.votes_count DESC, p.id
