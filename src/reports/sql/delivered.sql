-- One row a board, and one for all of them at the end.
WITH
part AS (
  SELECT board_id, sum(votes_count) AS votes, count(*) AS posts,
         sum(iif(status_id IN (SELECT value FROM json_each($delivered)), votes_count, 0)) AS delivered_votes,
         sum(status_id IN (SELECT value FROM json_each($delivered))) AS delivered_posts
    FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
   GROUP BY board_id
),
line AS (
  SELECT 0 AS place, b.name AS board, part.* FROM part JOIN boards b ON b.id = part.board_id
  UNION ALL
  SELECT 1, 'all boards', NULL, sum(votes), sum(posts), sum(delivered_votes), sum(delivered_posts) FROM part
  HAVING count(*) > 1
)
SELECT board, posts, delivered_posts, votes, delivered_votes, 1.0 * delivered_votes / nullif(votes, 0) AS share
  FROM line ORDER BY place, share DESC, board
