-- Totals beside what was new in the period and in the one just as long before it. Votes are counted by difference: what
-- each changed post has now, less what it had then; a state is looked up in the history only for posts that changed since.
WITH
team AS MATERIALIZED (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1),
moved AS MATERIALIZED (
  SELECT p.votes_count,
         iif(p.version_at <= $from, p.votes_count,
             coalesce((SELECT v.votes_count FROM post_versions v
                        WHERE v.post_id = p.id AND v.observed_at <= $from ORDER BY v.n DESC LIMIT 1),
                      iif(p.created >= $from, 0,
                          (SELECT v.votes_count FROM post_versions v WHERE v.post_id = p.id ORDER BY v.n LIMIT 1)),
                      p.votes_count)) AS votes_then,
         coalesce((SELECT v.votes_count FROM post_versions v
                    WHERE v.post_id = p.id AND v.observed_at <= $before ORDER BY v.n DESC LIMIT 1),
                  iif(p.created >= $before, 0,
                      (SELECT v.votes_count FROM post_versions v WHERE v.post_id = p.id ORDER BY v.n LIMIT 1)),
                  p.votes_count) AS votes_before
    FROM posts p
   WHERE p.deleted_at IS NULL AND p.version_at > coalesce($before, $from)
     AND ($board IS NULL OR p.board_id = $board)
),
post AS (
  SELECT count(*) AS total, total(votes_count) AS votes,
         count(*) FILTER (WHERE created >= $since AND created < $until) AS recent,
         count(*) FILTER (WHERE created >= $prior AND created < $since) AS prior
    FROM posts WHERE deleted_at IS NULL AND ($board IS NULL OR board_id = $board)
),
comment AS (
  SELECT c.creator_id, c.created
    FROM comments c
   WHERE c.deleted_at IS NULL AND c.created >= $prior AND c.created < $until
     AND ($board IS NULL OR (SELECT p.board_id FROM posts p WHERE p.id = c.post_id) = $board)
),
acting AS (
  SELECT creator_id, created FROM posts
   WHERE deleted_at IS NULL AND created >= $prior AND created < $until AND ($board IS NULL OR board_id = $board)
  UNION ALL
  SELECT creator_id, created FROM comment
),
figure (place, what, total, recent, prior) AS (
  SELECT 1, 'posts', total, recent, prior FROM post
  UNION ALL
  SELECT 2, 'votes', (SELECT CAST(votes AS INTEGER) FROM post),
         iif($from IS NULL, NULL, (SELECT coalesce(sum(votes_count - votes_then), 0) FROM moved)),
         iif($before IS NULL, NULL, (SELECT coalesce(sum(votes_then - votes_before), 0) FROM moved))
  UNION ALL
  SELECT 3, 'comments',
         iif($board IS NULL,
             (SELECT count(*) FROM comments) - (SELECT count(*) FROM comments WHERE deleted_at IS NOT NULL),
             (SELECT count(*) FROM comments c JOIN posts p ON p.id = c.post_id
               WHERE c.deleted_at IS NULL AND p.board_id = $board)),
         (SELECT count(*) FROM comment WHERE created >= $since),
         (SELECT count(*) FROM comment WHERE created < $since)
  UNION ALL
  SELECT 4, 'customers who wrote', NULL,
         count(DISTINCT creator_id) FILTER (WHERE created >= $since),
         count(DISTINCT creator_id) FILTER (WHERE created < $since)
    FROM acting WHERE creator_id NOT IN team
)
SELECT what, total, recent, prior, iif(prior > 0, 1.0 * (recent - prior) / prior, NULL) AS change
  FROM figure ORDER BY place
