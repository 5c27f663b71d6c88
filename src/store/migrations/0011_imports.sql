-- What an import as a whole was told to do. A batch without a row here goes out at the pace of the service.
CREATE TABLE batches (
  batch        TEXT PRIMARY KEY,
  created_at   TEXT NOT NULL,
  -- Rows a minute at most; NULL leaves it to PUSH_PER_MINUTE. The rows are held, and released one by one.
  per_minute   INTEGER CHECK (per_minute > 0),
  -- When the next row may be released.
  next_at      TEXT,
  paused_at    TEXT,
  -- Rows that come back from an attempt after this moment are cancelled, too.
  cancelled_at TEXT
) STRICT, WITHOUT ROWID;

-- 1 while the row's batch is paused, cancelled, or slower than the service: such a row is ready, but is not sent.
ALTER TABLE outbox ADD COLUMN on_hold INTEGER NOT NULL DEFAULT 0
  CHECK (on_hold = 0 OR (on_hold = 1 AND state = 'ready'));

-- A paused import of a million rows must not stand in the way of the rows behind it.
DROP INDEX outbox_due;
DROP INDEX outbox_by_batch;
CREATE INDEX outbox_due ON outbox (state, on_hold, not_before);
CREATE INDEX outbox_by_batch ON outbox (batch, state, on_hold, not_before);

-- What a row said before a person mended it: n = 1 is what was imported.
CREATE TABLE outbox_edits (
  outbox_id INTEGER NOT NULL REFERENCES outbox (id),
  n         INTEGER NOT NULL,
  edited_at TEXT NOT NULL,
  -- board, title, content, email and full_name, as JSON.
  before    TEXT NOT NULL,
  PRIMARY KEY (outbox_id, n)
) STRICT, WITHOUT ROWID;

-- Boards of confirmed posts: a new upstream shows a board only once a post of it was listed.
CREATE TABLE sent_boards (
  slug         TEXT PRIMARY KEY,
  confirmed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows of a file that look like posts of the mirror, until the file is imported or forgotten.
CREATE TABLE import_duplicates (
  import  TEXT NOT NULL,
  line    INTEGER NOT NULL,
  kind    TEXT NOT NULL CHECK (kind IN ('same', 'title', 'content')),
  score   REAL NOT NULL,
  post_id INTEGER NOT NULL,
  -- 1: a person does not want it sent.
  skipped INTEGER NOT NULL DEFAULT 0 CHECK (skipped IN (0, 1)),
  PRIMARY KEY (import, line)
) STRICT, WITHOUT ROWID;
