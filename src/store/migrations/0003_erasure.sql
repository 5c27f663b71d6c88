-- Erasure: people who asked to be forgotten, and rows whose time is up.

-- When the text of a deleted row was erased because its time was up; a row that lives again is filled again.
ALTER TABLE posts ADD COLUMN erased_at TEXT;
ALTER TABLE comments ADD COLUMN erased_at TEXT;
-- When a row of the outbox lost its text: it is never sent again.
ALTER TABLE outbox ADD COLUMN erased_at TEXT;

-- So that looking for rows whose time is up costs nothing while there are none.
CREATE INDEX posts_to_erase ON posts (deleted_at) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;
CREATE INDEX comments_to_erase ON comments (deleted_at) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;

-- Authors of rows whose text was erased: their names go too once no other row of theirs is left.
CREATE TABLE users_to_check (
  user_id INTEGER PRIMARY KEY
) STRICT;

-- Addresses that must not come back with the next sweep, as keyed hashes: the list itself tells nobody's address.
CREATE TABLE suppressions (
  hash  TEXT PRIMARY KEY,
  since TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The same people as the upstream numbers them: they stay erased when it shows them under a new address, or under none.
CREATE TABLE suppressed_users (
  user_id INTEGER PRIMARY KEY,
  hash    TEXT NOT NULL
) STRICT;

CREATE INDEX suppressed_users_by_hash ON suppressed_users (hash);

-- A word that leaves a text leaves the index with it, instead of being marked and kept until some later merge.
INSERT INTO posts_text (posts_text, rank) VALUES ('secure-delete', 1);
-- What was only marked until now goes here.
INSERT INTO posts_text (posts_text) VALUES ('optimize');
