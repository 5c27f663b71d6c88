-- What a reply is, once: the reports count with this view, and people's own SQL can.
CREATE VIEW team_replies AS
SELECT c.id, c.post_id, c.creator_id, c.content, c.created
  FROM comments c
 WHERE c.kind = 'reply' AND c.internal = 0 AND c.deleted_at IS NULL
   AND c.creator_id IN (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1);

-- When an erasure took words out of a version: that moves no other time, and whoever keeps a copy by increments must hear of it.
ALTER TABLE post_versions ADD COLUMN erased_at TEXT;
ALTER TABLE comment_versions ADD COLUMN erased_at TEXT;
CREATE INDEX post_versions_erased ON post_versions (post_id, erased_at) WHERE erased_at IS NOT NULL;
CREATE INDEX comment_versions_erased ON comment_versions (comment_id, erased_at) WHERE erased_at IS NOT NULL;

-- The same two indexes as before, wide enough again to answer without a look at the table: a reply has a kind, and a vote counts
-- for the board that its post was then on.
DROP INDEX comments_by_post;
CREATE INDEX comments_by_post ON comments (post_id, created, creator_id, internal, deleted_at, kind);
DROP INDEX post_versions_by_post;
CREATE INDEX post_versions_by_post
  ON post_versions (post_id, n, observed_at, status_id, votes_count, deleted, board_id);
