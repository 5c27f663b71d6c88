-- The change feed: one row for each change that was committed, written in the transaction that changed the row. It holds no text.
-- What a post or comment was before stands in its history, and what it is now in its own row.
CREATE TABLE changes (
  -- Never given out twice, also after the oldest rows were removed.
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  at      TEXT NOT NULL,
  type    TEXT NOT NULL,
  -- Of the row that the type names: a post, a comment, a user, a board, a status, a row of the outbox, or a pass.
  id      INTEGER NOT NULL,
  -- The row of post_versions or comment_versions that the change replaced.
  version INTEGER,
  -- Small values that no history holds, as JSON.
  detail  TEXT
) STRICT;

-- Rows of a first sweep are no changes: a list is told of from its first complete sweep on.
CREATE TABLE feed_lists (
  resource TEXT PRIMARY KEY CHECK (resource IN ('posts', 'comments')),
  -- The number of the change that told of that sweep; 0 where it was before there was a feed, NULL while there was none.
  start    INTEGER,
  failing  INTEGER NOT NULL DEFAULT 0 CHECK (failing IN (0, 1))
) STRICT, WITHOUT ROWID;

INSERT INTO feed_lists (resource, start)
SELECT column1,
       (SELECT 0 FROM sync_runs r WHERE r.resource = column1 AND r.mode = 'sweep' AND r.outcome = 'complete' LIMIT 1)
  FROM (VALUES ('posts'), ('comments'));

-- How far each webhook endpoint was told, and how that goes. Its address and secret stand in the settings only.
CREATE TABLE webhooks (
  id             TEXT PRIMARY KEY,
  -- The last change that was delivered, or that the endpoint does not want.
  position       INTEGER NOT NULL,
  -- Attempts for the change after that one which failed.
  failures       INTEGER NOT NULL DEFAULT 0,
  failing_since  TEXT,
  not_before     TEXT,
  disabled_at    TEXT,
  disabled_why   TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_deliveries (
  n        INTEGER PRIMARY KEY,
  webhook  TEXT NOT NULL,
  -- 0 for a test event.
  change   INTEGER NOT NULL,
  type     TEXT NOT NULL,
  at       TEXT NOT NULL,
  ms       INTEGER NOT NULL,
  status   INTEGER,
  error    TEXT
) STRICT;

CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook, n);
