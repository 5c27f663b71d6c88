-- Every step of a post's votes happens when it was seen, on the board that the post was then on. The total at the end of a week
-- is the total of now less all later steps, so that only posts which changed since are looked at. A post that was older when it
-- was first seen, one that was deleted, or one that moved to another board moves the total without being a gain.
WITH
week AS MATERIALIZED (
  SELECT value ->> 'date' AS date, value ->> 'begins' AS begins, value ->> 'ends' AS ends, value ->> 'partial' AS partial
    FROM json_each($weeks)
),
changed AS MATERIALIZED (
  SELECT id, created, board_id, votes_count, version_at, deleted_at FROM posts WHERE version_at > $from AND created < $now
),
told (post_id, created, n, at, votes, is_here, live) AS (
  SELECT p.id, p.created, v.n, v.observed_at, v.votes_count, $board IS NULL OR v.board_id = $board, v.deleted = 0
    FROM changed p CROSS JOIN post_versions v ON v.post_id = p.id
   WHERE v.observed_at > $from
  UNION ALL
  SELECT id, created, 9223372036854775807, version_at, votes_count, $board IS NULL OR board_id = $board, deleted_at IS NULL
    FROM changed
),
-- What a post had before, looked up: a window over all of them would sort a million rows.
step (at, gained, delta) AS (
  SELECT at, is_here * (votes - coalesce(before.votes_count, iif(created >= $from, 0, votes))),
         votes * live * is_here
         - coalesce(before.votes_count * (before.deleted = 0 AND ($board IS NULL OR before.board_id = $board)), 0)
    FROM told LEFT JOIN post_versions before
      ON before.n = (SELECT v.n FROM post_versions v
                      WHERE v.post_id = told.post_id AND v.n < told.n ORDER BY v.n DESC LIMIT 1)
   WHERE at > $from
),
slot AS MATERIALIZED (
  SELECT substr(at, 1, $slot) AS slot, at <= $until AS is_in, sum(gained) AS gained, sum(delta) AS delta
    FROM step GROUP BY 1, 2
),
-- The total at the end of the period.
final AS MATERIALIZED (
  SELECT (SELECT total(votes_count) FROM posts
           WHERE deleted_at IS NULL AND created < $now AND ($board IS NULL OR board_id = $board))
         - (SELECT total(delta) FROM slot WHERE NOT is_in) AS votes
)
SELECT week.date AS week,
       iif(week.ends > $from AND week.begins <= $last,
           CAST((SELECT votes FROM final)
                - (SELECT total(delta) FROM slot WHERE is_in AND slot.slot >= week.ends) AS INTEGER), NULL) AS votes,
       iif(week.ends > $from AND week.begins <= $last,
           CAST((SELECT total(gained) FROM slot WHERE is_in AND slot.slot >= week.begins AND slot.slot < week.ends) AS INTEGER), NULL)
         AS gained,
       week.partial
  FROM week
 ORDER BY 1
