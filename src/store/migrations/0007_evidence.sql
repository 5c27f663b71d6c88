-- Deletions are concluded from evidence kept for each row over several sweeps. What version 0.1 had noted came from single sweeps and
-- proves nothing by the new rule, so it is dropped; so is the checkpoint of an interrupted sweep, which had another form.
DROP TABLE absences;

-- Live rows that the upstream no longer shows. Any sighting removes the row from here.
CREATE TABLE absences (
  resource    TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  id          INTEGER NOT NULL,
  since       TEXT NOT NULL,
  -- The sweep that first did not show it: rows that went at once share it, and the mass-delete guard counts them by it.
  first_run   INTEGER NOT NULL,
  -- Complete sweeps in which two reads did not show it, and those in which a page had a neighbour on each side of its place.
  sweeps      INTEGER NOT NULL DEFAULT 0,
  gap_sweeps  INTEGER NOT NULL DEFAULT 0,
  -- Reads of the sweep run_id that did not show it, and how many of them had a neighbour on each side.
  run_id      INTEGER NOT NULL,
  reads       INTEGER NOT NULL DEFAULT 0,
  gap_reads   INTEGER NOT NULL DEFAULT 0,
  -- Where its place was read last, and the page before that.
  page        TEXT NOT NULL DEFAULT '',
  page_before TEXT,
  held        INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),
  accepted    INTEGER NOT NULL DEFAULT 0 CHECK (accepted IN (0, 1)),
  PRIMARY KEY (resource, id)
) STRICT, WITHOUT ROWID;

DELETE FROM sweep_pages;
UPDATE sync_state SET run_id = NULL, state = NULL;
ALTER TABLE sync_state RENAME COLUMN memory TO learned;
UPDATE sync_state SET learned = json_object(
  'order', json(learned -> '$.order'), 'strict', 0, 'numbers', NULL,
  'tryCreated', json(learned -> '$.tryCreated'), 'highWater', json(learned -> '$.floor'))
 WHERE learned IS NOT NULL;

-- By which rule the last complete sweep concluded deletions of the list, and why by that one.
ALTER TABLE sync_state ADD COLUMN rule TEXT CHECK (rule IN ('proof', 'three sweeps', 'none'));
ALTER TABLE sync_state ADD COLUMN rule_why TEXT;

-- What a list shows of a user, as a digest, where it is not what stands in users: the other list showed the same user differently, and
-- did so later. As long as this list goes on to show the same, nothing has changed.
CREATE TABLE user_views (
  user_id  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  resource TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  digest   TEXT NOT NULL,
  PRIMARY KEY (user_id, resource)
) STRICT, WITHOUT ROWID;
