-- The outbox: posts on their way to the upstream. A row stands here before anyone is told that it was accepted, and every
-- arrow between its states is one guarded transaction (src/outbox/decide/states.ts is the table of those arrows).

CREATE TABLE outbox (
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
  twin_key      TEXT NOT NULL,
  state         TEXT NOT NULL DEFAULT 'ready'
                CHECK (state IN ('ready', 'sending', 'confirmed', 'rejected', 'ambiguous', 'uncertain', 'cancelled')),
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
  looks_left    INTEGER NOT NULL DEFAULT 0,
  -- A second post that matches this row: the harm that was done, if any.
  duplicate_of  INTEGER,
  created_at    TEXT NOT NULL,
  changed_at    TEXT NOT NULL,
  CHECK ((kind = 'as-user') = (email IS NOT NULL)),
  CHECK ((state = 'confirmed') = (post_id IS NOT NULL))
) STRICT;

CREATE INDEX outbox_due ON outbox (state, not_before);
CREATE INDEX outbox_by_batch ON outbox (batch, state, not_before);
CREATE INDEX outbox_by_twin ON outbox (twin_key);
CREATE INDEX outbox_to_look_after ON outbox (id) WHERE looks_left > 0;

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

-- How long the list lags behind is measured by the latest creates that were confirmed by their answer.
CREATE INDEX outbox_attempts_confirmed ON outbox_attempts (ended_at) WHERE outcome = 'confirmed';
