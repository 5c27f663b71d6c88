-- The last line of the content as it was sent, with the reference that the post is found by; NULL where none was sent.
ALTER TABLE outbox ADD COLUMN mark TEXT;
-- What stands before the reference in the posts of this import; NULL where the setting decides.
ALTER TABLE batches ADD COLUMN mark TEXT;

CREATE INDEX outbox_marked ON outbox (id) WHERE mark IS NOT NULL;
CREATE INDEX outbox_seconds ON outbox (duplicate_of) WHERE duplicate_of IS NOT NULL;

-- A row that a person lets go has turned down all that it shows.
ALTER TABLE outbox DROP COLUMN judged;
