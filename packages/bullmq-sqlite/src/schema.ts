/** Another number than the file carries: the queue is disposable, so the file is moved aside instead of migrated. */
export const SCHEMA_VERSION = 1;

/**
 * `rank` and `seq` are the order of the jobs of one state, so that a single index serves every state: what is claimed next, which
 * delayed job is due, which finished jobs are the oldest, and how many jobs there are.
 */
export const SCHEMA = `
CREATE TABLE job (
  key              INTEGER PRIMARY KEY,
  queue            TEXT    NOT NULL,
  id               TEXT    NOT NULL,
  seq              INTEGER NOT NULL,            -- order of arrival; negative for LIFO
  name             TEXT    NOT NULL,
  state            TEXT    NOT NULL CHECK (state IN
                     ('waiting', 'active', 'delayed', 'completed', 'failed', 'waiting-children')),
  data             TEXT    NOT NULL,            -- JSON, as are opts, progress, stacktrace and return_value
  opts             TEXT    NOT NULL,
  priority         INTEGER NOT NULL DEFAULT 0,  -- 0 before all others, then the smallest first
  delay            INTEGER NOT NULL DEFAULT 0,
  attempts_made    INTEGER NOT NULL DEFAULT 0,
  attempts_started INTEGER NOT NULL DEFAULT 0,
  stalled_count    INTEGER NOT NULL DEFAULT 0,
  is_stall_suspect INTEGER NOT NULL DEFAULT 0,
  progress         TEXT,
  return_value     TEXT,
  failed_reason    TEXT,
  stacktrace       TEXT,
  deferred_failure TEXT,
  processed_by     TEXT,
  added_at         INTEGER NOT NULL,            -- times are milliseconds since 1970
  delayed_at       INTEGER,                     -- when the delay began, on this machine's clock
  process_at       INTEGER,
  processed_at     INTEGER,
  finished_at      INTEGER,
  lock_token       TEXT,
  locked_at        INTEGER,
  locked_until     INTEGER,
  dedup_id         TEXT,
  scheduler_id     TEXT,
  parent_queue     TEXT,
  parent_id        TEXT,
  parent_key       TEXT,
  rank             INTEGER GENERATED ALWAYS AS (CASE state
                     WHEN 'waiting' THEN priority
                     WHEN 'delayed' THEN process_at
                     WHEN 'completed' THEN finished_at
                     WHEN 'failed' THEN finished_at
                     ELSE 0 END) VIRTUAL,
  UNIQUE (queue, id)
);
CREATE INDEX job_order ON job (queue, state, rank, seq);
CREATE INDEX job_parent ON job (parent_queue, parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE dependency (
  parent_queue TEXT NOT NULL,
  parent_id    TEXT NOT NULL,
  child_queue  TEXT NOT NULL,
  child_id     TEXT NOT NULL,
  status       TEXT NOT NULL CHECK (status IN ('pending', 'processed', 'ignored', 'failed')),
  value        TEXT,                            -- JSON: what the child returned, or why it failed
  PRIMARY KEY (parent_queue, parent_id, child_queue, child_id),
  FOREIGN KEY (parent_queue, parent_id) REFERENCES job (queue, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX dependency_child ON dependency (child_queue, child_id);

CREATE TABLE log (
  queue  TEXT    NOT NULL,
  job_id TEXT    NOT NULL,
  idx    INTEGER NOT NULL,
  row    TEXT    NOT NULL,
  PRIMARY KEY (queue, job_id, idx),
  FOREIGN KEY (queue, job_id) REFERENCES job (queue, id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE event (
  queue TEXT    NOT NULL,
  id    INTEGER NOT NULL,                       -- counted for each queue
  event TEXT    NOT NULL,
  data  TEXT    NOT NULL,
  PRIMARY KEY (queue, id)
) WITHOUT ROWID;

CREATE TABLE dedup (
  queue     TEXT NOT NULL,
  dedup_id  TEXT NOT NULL,
  job_id    TEXT NOT NULL,
  expire_at INTEGER,
  next_job  TEXT,                               -- JSON of the job to add when the present one has finished
  PRIMARY KEY (queue, dedup_id)
) WITHOUT ROWID;

CREATE TABLE scheduler (
  queue           TEXT NOT NULL,
  scheduler_id    TEXT NOT NULL,
  name            TEXT,
  next_run        INTEGER,
  pattern         TEXT,
  every           INTEGER,
  tz              TEXT,
  start_date      INTEGER,
  end_date        INTEGER,
  limit_count     INTEGER,
  iteration_count INTEGER NOT NULL,
  offset          INTEGER,
  template_data   TEXT,
  template_opts   TEXT,
  PRIMARY KEY (queue, scheduler_id)
) WITHOUT ROWID;

CREATE TABLE rate_limit (
  queue      TEXT PRIMARY KEY,
  points     INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  expire_at  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE metrics (
  queue      TEXT NOT NULL,
  kind       TEXT NOT NULL,
  count      INTEGER NOT NULL,
  prev_ts    INTEGER NOT NULL,
  prev_count INTEGER NOT NULL,
  data       TEXT NOT NULL,                     -- JSON: jobs a minute, the newest first
  PRIMARY KEY (queue, kind)
) WITHOUT ROWID;

CREATE TABLE meta (
  queue TEXT NOT NULL,
  field TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (queue, field)
) WITHOUT ROWID;

CREATE TABLE counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = ${SCHEMA_VERSION};
`;
