SELECT p.id, p.votes_count AS votes, p.comments_count AS comments, p.created, p.title, b.name AS board, s.name AS status,
       s.color AS statusColor
  FROM posts p JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
 WHERE p.id IN (SELECT value FROM json_each($ids))
