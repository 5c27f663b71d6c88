-- The posts whose likeness to others is looked for.
SELECT id, title FROM posts
 WHERE deleted_at IS NULL AND ($since IS NULL OR created >= $since) AND created < $until AND ($board IS NULL OR board_id = $board)
   AND ($statuses = '[]' OR status_id IN (SELECT value FROM json_each($statuses)))
