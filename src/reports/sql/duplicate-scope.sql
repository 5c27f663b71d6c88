-- The posts whose likeness to others is looked for, the newest first.
SELECT id, title FROM posts
 WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
   AND ($statuses = '[]' OR status_id IN (SELECT value FROM json_each($statuses)))
 ORDER BY created DESC, id DESC LIMIT $scope
