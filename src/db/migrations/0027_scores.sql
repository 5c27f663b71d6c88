-- Deletions are concluded by one score for each missing row (src/mirror/decide/absence.ts). Evidence of the earlier rules is dropped, and
-- so is the checkpoint of an interrupted sweep, which had another form. Rows that the mass-delete guard holds stay held.
CREATE TABLE missing_rows (
  resource  TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  id        INTEGER NOT NULL,
  since     TEXT NOT NULL,
  -- The sweep that first missed it: the mass-delete guard counts rows that went at once.
  first_run INTEGER NOT NULL,
  -- Complete sweeps that missed it.
  sweeps    INTEGER NOT NULL DEFAULT 0,
  -- The share of what is needed to count it as deleted.
  score     REAL NOT NULL DEFAULT 0,
  -- How the last sweep missed it, and the rows that it showed around its place.
  way       TEXT NOT NULL DEFAULT 'edge' CHECK (way IN ('inside', 'between', 'frozen', 'edge', 'unstable')),
  before_id INTEGER,
  after_id  INTEGER,
  held      INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),
  accepted  INTEGER NOT NULL DEFAULT 0 CHECK (accepted IN (0, 1)),
  PRIMARY KEY (resource, id)
) STRICT, WITHOUT ROWID;
INSERT INTO missing_rows (resource, id, since, first_run, score, held)
  SELECT resource, id, since, first_run, 1, 1 FROM absences WHERE held = 1;
DROP TABLE absences;
ALTER TABLE missing_rows RENAME TO absences;

-- Rows that a pass has shown again since the last complete sweep missed them. The next complete sweep learns from them.
CREATE TABLE returned_rows (
  resource  TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  id        INTEGER NOT NULL,
  way       TEXT NOT NULL,
  before_id INTEGER,
  after_id  INTEGER,
  PRIMARY KEY (resource, id)
) STRICT, WITHOUT ROWID;

-- The pages of a list as the last complete sweep showed them, ids in their order.
CREATE TABLE list_pages (
  resource TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  n        INTEGER NOT NULL,
  ids      BLOB NOT NULL,
  PRIMARY KEY (resource, n)
) STRICT, WITHOUT ROWID;

-- A sweep may end as `incomplete`: it reached the end of a list that leaves out rows.
DROP TABLE sweep_pages;
CREATE TABLE list_state (
  resource TEXT PRIMARY KEY CHECK (resource IN ('posts', 'comments')),
  run_id   INTEGER REFERENCES sync_runs (id),
  state    TEXT,
  learned  TEXT,
  -- Deleted rows that a pass has shown again since the last complete sweep.
  restored INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO list_state (resource) SELECT resource FROM sync_state;
DROP TABLE sync_state;
CREATE TABLE runs (
  id          INTEGER PRIMARY KEY,
  resource    TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  mode        TEXT NOT NULL CHECK (mode IN ('sweep', 'head')),
  started_at  TEXT NOT NULL,
  finished_at TEXT,
  outcome     TEXT NOT NULL CHECK (outcome IN ('running', 'complete', 'incomplete', 'interrupted', 'failed')),
  resumed     INTEGER NOT NULL DEFAULT 0,
  pages       INTEGER NOT NULL DEFAULT 0,
  rows        INTEGER NOT NULL DEFAULT 0,
  inserted    INTEGER NOT NULL DEFAULT 0,
  updated     INTEGER NOT NULL DEFAULT 0,
  unchanged   INTEGER NOT NULL DEFAULT 0,
  deleted     INTEGER NOT NULL DEFAULT 0,
  held        INTEGER NOT NULL DEFAULT 0,
  suspects    INTEGER NOT NULL DEFAULT 0,
  quarantined INTEGER NOT NULL DEFAULT 0,
  error       TEXT
) STRICT;
INSERT INTO runs
  SELECT id, resource, mode, started_at, finished_at, iif(outcome = 'running', 'interrupted', outcome), resumed, pages, rows, inserted,
         updated, unchanged, deleted, held, suspects, quarantined, error
    FROM sync_runs;
DROP TABLE sync_runs;
ALTER TABLE runs RENAME TO sync_runs;
CREATE INDEX sync_runs_by_resource ON sync_runs (resource, mode, id);
CREATE INDEX sync_runs_under_way ON sync_runs (resource, mode) WHERE outcome = 'running';
ALTER TABLE list_state RENAME TO sync_state;

-- The pages of a sweep under way that differ from those of the last complete sweep.
CREATE TABLE sweep_pages (
  run_id INTEGER NOT NULL REFERENCES sync_runs (id),
  n      INTEGER NOT NULL,
  ids    BLOB NOT NULL,
  PRIMARY KEY (run_id, n)
) STRICT, WITHOUT ROWID;
