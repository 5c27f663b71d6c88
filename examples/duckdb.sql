-- Votes by board and status, from a Parquet export: feedback-mirror export all --format parquet --out today
-- duckdb -c ".read duckdb.sql", in the folder that holds "today".
SELECT b.name AS board,
       s.name AS status,
       count(*) AS posts,
       sum(p.votes_count) AS votes
  FROM 'today/posts.parquet' p
  JOIN 'today/boards.parquet' b ON b.id = p.board_id
  JOIN 'today/statuses.parquet' s ON s.id = p.status_id
 WHERE p.deleted_at IS NULL
 GROUP BY ALL
 ORDER BY votes DESC;
