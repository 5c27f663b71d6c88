-- A comment can move to another post, get another author, or become a reply: its history tells that too. What these were in versions
-- from before is not known; nobody saw them change, so they stand as they are now.
ALTER TABLE comment_versions ADD COLUMN post_id INTEGER;
ALTER TABLE comment_versions ADD COLUMN creator_id INTEGER;
ALTER TABLE comment_versions ADD COLUMN kind TEXT;
UPDATE comment_versions
   SET (post_id, creator_id, kind) = (SELECT c.post_id, c.creator_id, c.kind FROM comments c WHERE c.id = comment_id);

DROP VIEW comment_history;
CREATE VIEW comment_history AS
SELECT v.comment_id,
       v.observed_at,
       coalesce(v.content,
                (SELECT w.content FROM comment_versions w
                  WHERE w.comment_id = v.comment_id AND w.n > v.n AND w.content IS NOT NULL ORDER BY w.n LIMIT 1),
                c.content) AS content,
       v.likes_count, v.highlighted, v.internal, v.status, v.deleted, v.post_id, v.creator_id, v.kind
  FROM comment_versions v JOIN comments c ON c.id = v.comment_id
UNION ALL
SELECT id, version_at, content, likes_count, highlighted, internal, status, deleted_at IS NOT NULL, post_id, creator_id, kind
  FROM comments;
