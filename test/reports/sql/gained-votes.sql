-- What each post that changed in the period had at its end, less what it had at its beginning. A post made within the
-- period began with none; one that was older when it was first seen begins with what it had then.
WITH
moved AS (
  SELECT p.id, p.created,
         iif(p.version_at <= $until, p.votes_count,
             (SELECT v.votes_count FROM post_versions v
               WHERE v.post_id = p.id AND v.observed_at <= $until ORDER BY v.n DESC LIMIT 1)) AS votes,
         coalesce((SELECT v.votes_count FROM post_versions v
                    WHERE v.post_id = p.id AND v.observed_at <= $from ORDER BY v.n DESC LIMIT 1),
                  iif(p.created >= $from, 0,
                      (SELECT v.votes_count FROM post_versions v WHERE v.post_id = p.id ORDER BY v.n LIMIT 1))) AS before
    FROM posts p
   WHERE p.deleted_at IS NULL AND p.version_at > $from AND p.created < $until AND ($board IS NULL OR p.board_id = $board)
     AND ($statuses = '[]' OR p.status_id IN (SELECT value FROM json_each($statuses)))
),
paced AS (
  SELECT id, votes, votes - before AS gained,
         (votes - before) / max(1, julianday($until) - julianday(max($from, created))) AS a_day,
         iif(created < $from, before / max(1, julianday($from) - julianday(created)), 0) AS a_day_before
    FROM moved WHERE votes > before
),
best AS (
  SELECT *, a_day - a_day_before AS faster FROM paced
   ORDER BY iif($rank = 'pace', a_day - a_day_before, gained) DESC, votes DESC, id LIMIT $limit
)
SELECT p.id AS post, best.gained, best.votes, round(best.a_day, 2) AS a_day, round(best.a_day_before, 2) AS a_day_before,
       s.name AS status, b.name AS board, p.created, p.title
  FROM best JOIN posts p ON p.id = best.id
  JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
 ORDER BY iif($rank = 'pace', best.faster, best.gained) DESC, best.votes DESC, p.id
