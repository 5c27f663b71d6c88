-- A post that an agent proposes is a row in the state `proposed`, which only a person moves on. A CHECK cannot be altered, so the table
-- is made anew; the two that refer to it go first and come back, as no row may point nowhere in between.
CREATE TABLE attempts_kept AS SELECT * FROM outbox_attempts;
CREATE TABLE edits_kept AS SELECT * FROM outbox_edits;
DROP TABLE outbox_attempts;
DROP TABLE outbox_edits;

CREATE TABLE outbox_next (
  id            INTEGER PRIMARY KEY,
  batch         TEXT NOT NULL,
  -- What the row is known by at its source: the same source row is accepted once.
  source_key    TEXT NOT NULL UNIQUE,
  line          INTEGER,
  kind          TEXT NOT NULL CHECK (kind IN ('owner', 'as-user')),
  board         TEXT NOT NULL,
  title         TEXT NOT NULL,
  content       TEXT NOT NULL,
  email         TEXT,
  full_name     TEXT,
  -- Equal for rows whose posts could not be told apart: those are never on their way at the same time.
  content_hash  TEXT NOT NULL,
  state         TEXT NOT NULL DEFAULT 'ready'
                CHECK (state IN ('proposed', 'ready', 'sending', 'confirmed', 'rejected', 'ambiguous', 'uncertain', 'cancelled')),
  attempts      INTEGER NOT NULL DEFAULT 0,
  not_before    TEXT,
  -- One post confirms one row.
  post_id       INTEGER UNIQUE,
  url           TEXT,
  last_error    TEXT,
  -- Posts of the mirror that already looked like this one before an attempt, as a JSON list of ids.
  baseline      TEXT NOT NULL DEFAULT '[]',
  -- When the first attempt that can have left a post began; nothing the upstream made before that is ours.
  first_sent_at TEXT,
  -- Complete reads of the list in which the post was not found.
  not_found     INTEGER NOT NULL DEFAULT 0,
  -- Posts a person may choose from, as a JSON list of ids.
  candidates    TEXT NOT NULL DEFAULT '[]',
  was_ambiguous INTEGER NOT NULL DEFAULT 0 CHECK (was_ambiguous IN (0, 1)),
  -- Complete sweeps that still have to look for a second post of this row.
  checks_left   INTEGER NOT NULL DEFAULT 0,
  -- A second post that matches this row: the harm that was done, if any.
  duplicate_of  INTEGER,
  created_at    TEXT NOT NULL,
  changed_at    TEXT NOT NULL,
  erased_at     TEXT,
  matched       TEXT,
  known_max_id  INTEGER,
  on_hold       INTEGER NOT NULL DEFAULT 0 CHECK (on_hold = 0 OR (on_hold = 1 AND state = 'ready')),
  CHECK ((kind = 'as-user') = (email IS NOT NULL)),
  CHECK ((state = 'confirmed') = (post_id IS NOT NULL))
) STRICT;
INSERT INTO outbox_next SELECT * FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_next RENAME TO outbox;

CREATE INDEX outbox_by_content_hash ON outbox (content_hash);
CREATE INDEX outbox_to_check ON outbox (id) WHERE checks_left > 0;
CREATE INDEX outbox_to_resend ON outbox (id) WHERE state = 'ready' AND was_ambiguous = 1;
CREATE INDEX outbox_due ON outbox (state, on_hold, not_before);
CREATE INDEX outbox_by_batch ON outbox (batch, state, on_hold, not_before);

CREATE TABLE outbox_attempts (
  outbox_id   INTEGER NOT NULL REFERENCES outbox (id),
  n           INTEGER NOT NULL,
  started_at  TEXT NOT NULL,
  -- After this moment the attempt cannot still be on its way out of this machine.
  deadline_at TEXT NOT NULL,
  ended_at    TEXT,
  outcome     TEXT,
  http_status INTEGER,
  post_id     INTEGER,
  error       TEXT,
  PRIMARY KEY (outbox_id, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_attempts_confirmed ON outbox_attempts (ended_at) WHERE outcome = 'confirmed';
INSERT INTO outbox_attempts SELECT * FROM attempts_kept;
DROP TABLE attempts_kept;

CREATE TABLE outbox_edits (
  outbox_id INTEGER NOT NULL REFERENCES outbox (id),
  n         INTEGER NOT NULL,
  edited_at TEXT NOT NULL,
  -- board, title, content, email and full_name, as JSON.
  before    TEXT NOT NULL,
  PRIMARY KEY (outbox_id, n)
) STRICT, WITHOUT ROWID;
INSERT INTO outbox_edits SELECT * FROM edits_kept;
DROP TABLE edits_kept;
