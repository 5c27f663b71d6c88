-- Customers of the file that was imported last: one row an address, or one row for all addresses of a domain.
CREATE TABLE segments (
  id          INTEGER PRIMARY KEY,
  -- Folded, so that every spelling of one address is the same. Exactly one of the two.
  email       TEXT UNIQUE,
  domain      TEXT UNIQUE,
  company     TEXT,
  plan        TEXT,
  -- The column of the file that is added up, such as MRR, and what the file calls it.
  value       REAL,
  value_name  TEXT,
  -- Further columns of the file, as a JSON object of texts.
  extra       TEXT,
  imported_at TEXT NOT NULL,
  imported_by TEXT NOT NULL,
  CHECK ((email IS NULL) <> (domain IS NULL))
) STRICT;
CREATE INDEX segments_by_plan ON segments (plan);
CREATE INDEX segments_by_company ON segments (company);

-- Which row of the file a person belongs to. An address counts before its domain.
CREATE TABLE people_segments (
  user_id    INTEGER PRIMARY KEY,
  segment_id INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX people_segments_by_segment ON people_segments (segment_id);

-- People who come after the import. Letters beyond ASCII are folded by the import only, as lower() of SQLite leaves them.
CREATE TRIGGER user_segment_added AFTER INSERT ON users WHEN new.email IS NOT NULL AND EXISTS (SELECT 1 FROM segments)
BEGIN
  DELETE FROM people_segments WHERE user_id = new.id;
  INSERT INTO people_segments (user_id, segment_id)
    SELECT new.id, id FROM segments
     WHERE email = lower(trim(new.email)) OR domain = lower(trim(substr(new.email, instr(new.email, '@') + 1)))
     ORDER BY email IS NULL LIMIT 1;
END;
-- An erased person has no address, and so belongs to no customer.
CREATE TRIGGER user_segment_changed AFTER UPDATE OF email ON users WHEN new.email IS NOT old.email
BEGIN
  DELETE FROM people_segments WHERE user_id = new.id;
  INSERT INTO people_segments (user_id, segment_id)
    SELECT new.id, id FROM segments
     WHERE email = lower(trim(new.email)) OR domain = lower(trim(substr(new.email, instr(new.email, '@') + 1)))
     ORDER BY email IS NULL LIMIT 1;
END;

-- Who was told that a post was delivered, and by whom.
CREATE TABLE told_people (
  post_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  told_at TEXT NOT NULL,
  told_by TEXT NOT NULL,
  PRIMARY KEY (post_id, user_id)
) STRICT, WITHOUT ROWID;
