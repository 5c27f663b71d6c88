-- Comments and versions are packed in the order of their posts, and all rows of a post in one chunk: a report that goes through them
-- then reads the posts in order, too. In the order of time each of a million rows was a look at far memory. What was packed is dropped;
-- the next sweep packs it anew, in as few bytes as the numbers fit in.
DROP TRIGGER comments_packed_insert;
DROP TRIGGER comments_packed_update;
DELETE FROM report_columns;
DELETE FROM report_changes;
UPDATE report_packed SET last = -1;

-- report_columns.first, report_packed.last and report_changes.id are numbers of posts from here on, also for comments and versions.
CREATE TRIGGER comments_packed_insert AFTER INSERT ON comments
WHEN NEW.post_id <= (SELECT last FROM report_packed WHERE source = 'comments')
BEGIN
  INSERT INTO report_changes VALUES ('comments', NEW.post_id) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER comments_packed_update
AFTER UPDATE OF post_id, creator_id, kind, internal, created, deleted_at ON comments
WHEN min(OLD.post_id, NEW.post_id) <= (SELECT last FROM report_packed WHERE source = 'comments')
BEGIN
  INSERT INTO report_changes SELECT 'comments', post FROM (SELECT OLD.post_id AS post UNION SELECT NEW.post_id)
   WHERE post <= (SELECT last FROM report_packed WHERE source = 'comments') ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER versions_packed_insert AFTER INSERT ON post_versions
WHEN NEW.post_id <= (SELECT last FROM report_packed WHERE source = 'versions')
BEGIN
  INSERT INTO report_changes VALUES ('versions', NEW.post_id) ON CONFLICT DO NOTHING;
END;
