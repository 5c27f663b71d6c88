-- One row a board, and one for all of them at the end.
WITH
-- In the order of an index, so that a million rows are counted without being sorted.
piece AS (
  SELECT board_id, status_id, count(*) AS posts, sum(votes_count) AS votes FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
   GROUP BY board_id, status_id
),
part AS MATERIALIZED (
  SELECT board_id, sum(votes) AS votes, sum(posts) AS posts,
         sum(iif(status_id IN (SELECT value FROM json_each($delivered)), votes, 0)) AS delivered_votes,
         sum(iif(status_id IN (SELECT value FROM json_each($delivered)), posts, 0)) AS delivered_posts
    FROM piece GROUP BY board_id
),
board AS (
  SELECT id, name || iif(count(*) OVER (PARTITION BY name) > 1, ' (' || slug || ')', '') AS name FROM boards
),
line AS (
  SELECT 0 AS place, b.name AS board, part.* FROM part JOIN board b ON b.id = part.board_id
  UNION ALL
  SELECT 1, 'all boards', NULL, sum(votes), sum(posts), sum(delivered_votes), sum(delivered_posts) FROM part
  HAVING count(*) > 1
)
SELECT board, posts, delivered_posts, votes, delivered_votes, 1.0 * delivered_votes / nullif(votes, 0) AS share
  FROM line ORDER BY place, share DESC, board
