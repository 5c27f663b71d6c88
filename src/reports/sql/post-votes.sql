-- One row for each time the votes or the status were seen to change.
WITH
told (n, at, votes, status_id, deleted) AS (
  SELECT n, observed_at, votes_count, status_id, deleted FROM post_versions WHERE post_id = $post
  UNION ALL
  SELECT 9223372036854775807, version_at, votes_count, status_id, deleted_at IS NOT NULL FROM posts WHERE id = $post
),
step AS (
  SELECT *, votes - lag(votes) OVER told_order AS change, lag(status_id) OVER told_order AS status_before,
         lag(deleted) OVER told_order AS deleted_before
    FROM told WINDOW told_order AS (ORDER BY n)
)
SELECT step.at, step.votes, step.change, iif(step.deleted, 'deleted', s.name) AS status
  FROM step JOIN statuses s ON s.id = step.status_id
 WHERE (step.change IS NOT 0 OR step.status_before IS NOT step.status_id OR step.deleted_before IS NOT step.deleted)
   AND step.at >= $since AND step.at < $until
 ORDER BY step.n
