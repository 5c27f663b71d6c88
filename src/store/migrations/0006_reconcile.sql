-- Reconcile asks which posts of a window nothing accounts for, instead of looking for a row's own words.

ALTER TABLE outbox RENAME COLUMN twin_key TO content_hash;
-- Complete sweeps that still have to check this row for a second post.
ALTER TABLE outbox RENAME COLUMN looks_left TO checks_left;
-- How the post was found in the list: 'exact', or 'similar 0.93'; null where the answer of the create named it, or a person did.
ALTER TABLE outbox ADD COLUMN matched TEXT;
-- The highest post id that was known when the first attempt that can have left a post began; null where none was.
ALTER TABLE outbox ADD COLUMN known_max_id INTEGER;

DROP INDEX outbox_by_twin;
CREATE INDEX outbox_by_content_hash ON outbox (content_hash);
DROP INDEX outbox_to_look_after;
CREATE INDEX outbox_to_check ON outbox (id) WHERE checks_left > 0;
-- Rows that are checked once more before they are sent again; a million rows may be ready beside them.
CREATE INDEX outbox_to_resend ON outbox (id) WHERE state = 'ready' AND was_ambiguous = 1;
