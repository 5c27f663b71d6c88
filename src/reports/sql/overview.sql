-- Totals beside what was new in the period and in the one just as long before it. Votes are counted by difference: what each
-- post has now, less what it had then, looked up in the history only for posts that changed since. All of it is one walk
-- over a narrow index: this one is asked for by every look at a dashboard.
WITH
team AS MATERIALIZED (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1),
post AS MATERIALIZED (
  SELECT count(*) AS total, total(votes_count) AS votes,
         total(iif(version_at > $from,
                   votes_count - iif(created >= $from, 0,
                                     coalesce((SELECT v.votes_count FROM post_versions v
                                                WHERE v.post_id = p.id AND v.observed_at <= $from ORDER BY v.n DESC LIMIT 1),
                                              (SELECT v.votes_count FROM post_versions v
                                                WHERE v.post_id = p.id ORDER BY v.n LIMIT 1),
                                              votes_count)), 0)) AS gained,
         total(iif(version_at > $before,
                   votes_count - iif(created >= $before, 0,
                                     coalesce((SELECT v.votes_count FROM post_versions v
                                                WHERE v.post_id = p.id AND v.observed_at <= $before ORDER BY v.n DESC LIMIT 1),
                                              (SELECT v.votes_count FROM post_versions v
                                                WHERE v.post_id = p.id ORDER BY v.n LIMIT 1),
                                              votes_count)), 0)) AS gained_twice
    FROM posts p WHERE deleted_at IS NULL AND ($board IS NULL OR board_id = $board)
),
act (creator_id, created, is_post) AS MATERIALIZED (
  SELECT creator_id, created, 1 FROM posts
   WHERE deleted_at IS NULL AND created >= $prior AND created < $until AND ($board IS NULL OR board_id = $board)
  UNION ALL
  SELECT c.creator_id, c.created, 0 FROM comments c
   WHERE c.deleted_at IS NULL AND c.created >= $prior AND c.created < $until
     AND ($board IS NULL OR (SELECT p.board_id FROM posts p WHERE p.id = c.post_id) = $board)
),
figure (place, what, total, recent, prior) AS (
  SELECT 1, 'posts', (SELECT total FROM post), count(*) FILTER (WHERE created >= $since),
         count(*) FILTER (WHERE created < $since)
    FROM act WHERE is_post
  UNION ALL
  SELECT 2, 'votes', CAST(votes AS INTEGER), iif($from IS NULL, NULL, CAST(gained AS INTEGER)),
         iif($before IS NULL, NULL, CAST(gained_twice - gained AS INTEGER))
    FROM post
  UNION ALL
  SELECT 3, 'comments',
         iif($board IS NULL,
             (SELECT count(*) FROM comments) - (SELECT count(*) FROM comments WHERE deleted_at IS NOT NULL),
             (SELECT count(*) FROM comments c JOIN posts p ON p.id = c.post_id
               WHERE c.deleted_at IS NULL AND p.board_id = $board)),
         count(*) FILTER (WHERE created >= $since), count(*) FILTER (WHERE created < $since)
    FROM act WHERE NOT is_post
  UNION ALL
  SELECT 4, 'customers who wrote', NULL,
         count(DISTINCT creator_id) FILTER (WHERE created >= $since),
         count(DISTINCT creator_id) FILTER (WHERE created < $since)
    FROM act WHERE creator_id NOT IN team
)
SELECT what, total, recent, prior, iif(prior > 0, 1.0 * (recent - prior) / prior, NULL) AS change
  FROM figure ORDER BY place
