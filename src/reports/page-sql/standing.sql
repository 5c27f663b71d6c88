-- Live posts by board and status, in the order of the narrow index: a million rows are counted without being sorted.
SELECT board_id AS board, status_id AS status, count(*) AS posts, sum(votes_count) AS votes, sum(comments_count) AS comments
  FROM posts
 WHERE deleted_at IS NULL AND created < $now AND ($board IS NULL OR board_id = $board)
 GROUP BY board_id, status_id
