-- Made by "npm run schema" from the migrations up to version 35; not to be edited.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  id             INTEGER PRIMARY KEY,
  email          TEXT,
  name           TEXT,
  alias          TEXT,
  registered     TEXT,
  registered_raw TEXT,
  is_admin       INTEGER NOT NULL CHECK (is_admin IN (0, 1)),
  is_team        INTEGER NOT NULL CHECK (is_team IN (0, 1)),
  extra          TEXT,
  first_seen_at  TEXT NOT NULL,
  changed_at     TEXT NOT NULL
) STRICT;

CREATE INDEX users_by_email ON users (email COLLATE NOCASE);

CREATE INDEX users_team ON users (id) WHERE is_team = 1 OR is_admin = 1;

CREATE TABLE boards (
  id            INTEGER PRIMARY KEY,
  name          TEXT NOT NULL,
  url           TEXT NOT NULL,
  slug          TEXT NOT NULL,
  extra         TEXT,
  first_seen_at TEXT NOT NULL,
  changed_at    TEXT NOT NULL
) STRICT;

CREATE TABLE statuses (
  id            INTEGER PRIMARY KEY,
  name          TEXT NOT NULL,
  color         TEXT NOT NULL,
  extra         TEXT,
  first_seen_at TEXT NOT NULL,
  changed_at    TEXT NOT NULL
) STRICT;

CREATE TABLE posts (
  id             INTEGER PRIMARY KEY,
  title          TEXT NOT NULL,
  content        TEXT NOT NULL,
  url            TEXT NOT NULL,
  creator_id     INTEGER NOT NULL REFERENCES users (id),
  board_id       INTEGER NOT NULL REFERENCES boards (id),
  status_id      INTEGER NOT NULL REFERENCES statuses (id),
  votes_count    INTEGER NOT NULL,
  comments_count INTEGER NOT NULL,
  created        TEXT NOT NULL,
  created_raw    TEXT,
  extra          TEXT,
  first_seen_at  TEXT NOT NULL,
  changed_at     TEXT NOT NULL,
  -- When what post_history tells about was last seen to change; url, creator and extra are not part of that.
  version_at     TEXT NOT NULL,
  deleted_at     TEXT,
  erased_at      TEXT
) STRICT;

CREATE INDEX posts_deleted ON posts (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX posts_to_erase ON posts (deleted_at) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;

CREATE INDEX posts_by_url ON posts (url) WHERE instr(url, id) = 0;

CREATE TABLE commented_posts (
  id            INTEGER PRIMARY KEY,
  title         TEXT NOT NULL,
  url           TEXT NOT NULL,
  extra         TEXT,
  first_seen_at TEXT NOT NULL,
  changed_at    TEXT NOT NULL
) STRICT;

CREATE TABLE comments (
  id            INTEGER PRIMARY KEY,
  post_id       INTEGER NOT NULL REFERENCES commented_posts (id),
  creator_id    INTEGER NOT NULL REFERENCES users (id),
  kind          TEXT NOT NULL,
  status        TEXT,
  likes_count   INTEGER NOT NULL,
  highlighted   INTEGER NOT NULL CHECK (highlighted IN (0, 1)),
  internal      INTEGER NOT NULL CHECK (internal IN (0, 1)),
  content       TEXT NOT NULL,
  created       TEXT NOT NULL,
  created_raw   TEXT,
  extra         TEXT,
  first_seen_at TEXT NOT NULL,
  changed_at    TEXT NOT NULL,
  version_at    TEXT NOT NULL,
  deleted_at    TEXT,
  erased_at      TEXT
) STRICT;

CREATE INDEX comments_by_created ON comments (created);

CREATE INDEX comments_deleted ON comments (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX comments_to_erase ON comments (deleted_at) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;

CREATE INDEX comments_by_post ON comments (post_id, created, creator_id, internal, deleted_at, kind);

CREATE TABLE post_versions (
  n              INTEGER PRIMARY KEY,
  post_id        INTEGER NOT NULL REFERENCES posts (id),
  observed_at    TEXT NOT NULL,
  title          TEXT,
  content        TEXT,
  board_id       INTEGER NOT NULL,
  status_id      INTEGER NOT NULL,
  votes_count    INTEGER NOT NULL,
  comments_count INTEGER NOT NULL,
  deleted        INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  erased_at      TEXT,
  creator_id     INTEGER
) STRICT;

CREATE INDEX post_versions_erased ON post_versions (post_id, erased_at) WHERE erased_at IS NOT NULL;

CREATE INDEX post_versions_by_post
  ON post_versions (post_id, n, observed_at, status_id, votes_count, deleted, board_id);

CREATE TABLE comment_versions (
  n           INTEGER PRIMARY KEY,
  comment_id  INTEGER NOT NULL REFERENCES comments (id),
  observed_at TEXT NOT NULL,
  content     TEXT,
  likes_count INTEGER NOT NULL,
  highlighted INTEGER NOT NULL CHECK (highlighted IN (0, 1)),
  internal    INTEGER NOT NULL CHECK (internal IN (0, 1)),
  status      TEXT,
  deleted     INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  erased_at   TEXT,
  post_id     INTEGER,
  creator_id  INTEGER,
  kind        TEXT
) STRICT;

CREATE INDEX comment_versions_by_comment ON comment_versions (comment_id, n);

CREATE INDEX comment_versions_erased ON comment_versions (comment_id, erased_at) WHERE erased_at IS NOT NULL;

CREATE TABLE quarantine (
  id       INTEGER PRIMARY KEY,
  resource TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  seen_at  TEXT NOT NULL,
  run_id   INTEGER NOT NULL,
  reason   TEXT NOT NULL,
  body     TEXT NOT NULL,
  UNIQUE (resource, body)
) STRICT;

CREATE INDEX quarantine_by_row ON quarantine (resource, iif(json_valid(body), body ->> 'id', NULL));

CREATE TABLE users_to_check (
  user_id INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE suppressions (
  hash  TEXT PRIMARY KEY,
  since TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE suppressed_users (
  user_id INTEGER PRIMARY KEY,
  hash    TEXT NOT NULL
) STRICT;

CREATE INDEX suppressed_users_by_hash ON suppressed_users (hash);

CREATE TABLE saved_queries (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  sql        TEXT NOT NULL,
  created_at TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;

CREATE TABLE sqlite_sequence(name,seq);

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
, mark TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE sent_boards (
  slug         TEXT PRIMARY KEY,
  confirmed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE INDEX changes_of_names ON changes (type, id) WHERE type IN ('post.moved', 'board.updated', 'status.updated');

CREATE TABLE feed_lists (
  resource TEXT PRIMARY KEY CHECK (resource IN ('posts', 'comments')),
  -- The number of the change that told of that sweep; 0 where it was before there was a feed, NULL while there was none.
  start    INTEGER,
  failing  INTEGER NOT NULL DEFAULT 0 CHECK (failing IN (0, 1))
) STRICT, WITHOUT ROWID;

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

CREATE VIRTUAL TABLE posts_text USING fts5 (
  title, content,
  content = 'posts', content_rowid = 'id',
  tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);

CREATE VIRTUAL TABLE comments_text USING fts5 (
  content,
  content = 'comments', content_rowid = 'id',
  tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);

CREATE TABLE same_posts (
  post_id   INTEGER NOT NULL,
  same_as   INTEGER NOT NULL,
  marked_at TEXT NOT NULL,
  PRIMARY KEY (post_id, same_as),
  CHECK (post_id < same_as)
) STRICT, WITHOUT ROWID;

CREATE INDEX same_posts_by_other ON same_posts (same_as);

CREATE TABLE saved_views (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  address    TEXT NOT NULL,
  created_at TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;

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
  mark TEXT,
  CHECK ((kind = 'as-user') = (email IS NOT NULL)),
  CHECK ((state = 'confirmed') = (post_id IS NOT NULL))
) STRICT;

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
  after_run   INTEGER,
  PRIMARY KEY (outbox_id, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_attempts_confirmed ON outbox_attempts (ended_at) WHERE outcome = 'confirmed';

CREATE TABLE outbox_edits (
  outbox_id INTEGER NOT NULL REFERENCES outbox (id),
  n         INTEGER NOT NULL,
  edited_at TEXT NOT NULL,
  -- board, title, content, email and full_name, as JSON.
  before    TEXT NOT NULL,
  PRIMARY KEY (outbox_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE report_columns (
  source TEXT NOT NULL CHECK (source IN ('posts', 'comments', 'versions')),
  name   TEXT NOT NULL,
  -- The smallest key of the rows.
  first  INTEGER NOT NULL,
  rows   INTEGER NOT NULL,
  data   BLOB NOT NULL,
  PRIMARY KEY (source, name, first)
) STRICT;

CREATE TABLE report_packed (
  source TEXT PRIMARY KEY,
  last   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE report_changes (
  source TEXT NOT NULL,
  id     INTEGER NOT NULL,
  PRIMARY KEY (source, id)
) STRICT, WITHOUT ROWID;

CREATE VIEW post_history AS
SELECT v.post_id,
       v.observed_at,
       coalesce(v.title,
                (SELECT w.title FROM post_versions w
                  WHERE w.post_id = v.post_id AND w.n > v.n AND w.title IS NOT NULL ORDER BY w.n LIMIT 1),
                p.title) AS title,
       coalesce(v.content,
                (SELECT w.content FROM post_versions w
                  WHERE w.post_id = v.post_id AND w.n > v.n AND w.content IS NOT NULL ORDER BY w.n LIMIT 1),
                p.content) AS content,
       v.board_id, v.status_id, v.votes_count, v.comments_count, v.deleted
  FROM post_versions v JOIN posts p ON p.id = v.post_id
UNION ALL
SELECT id, version_at, title, content, board_id, status_id, votes_count, comments_count, deleted_at IS NOT NULL
  FROM posts;

CREATE VIEW live_posts AS
SELECT p.id, p.title, p.content, p.url,
       p.board_id, b.name AS board, b.slug AS board_slug,
       p.status_id, s.name AS status, s.color AS status_color,
       p.creator_id, u.name AS creator, u.email AS creator_email,
       p.votes_count, p.comments_count, p.created, p.extra, p.first_seen_at, p.changed_at
  FROM posts p
  JOIN boards b ON b.id = p.board_id
  JOIN statuses s ON s.id = p.status_id
  JOIN users u ON u.id = p.creator_id
 WHERE p.deleted_at IS NULL;

CREATE VIEW team_replies AS
SELECT c.id, c.post_id, c.creator_id, c.content, c.created
  FROM comments c
 WHERE c.kind = 'reply' AND c.internal = 0 AND c.deleted_at IS NULL
   AND c.creator_id IN (SELECT id FROM users WHERE is_team = 1 OR is_admin = 1);

CREATE VIEW comment_history AS
SELECT v.comment_id,
       v.observed_at,
       coalesce(v.content,
                (SELECT w.content FROM comment_versions w
                  WHERE w.comment_id = v.comment_id AND w.n > v.n AND w.content IS NOT NULL ORDER BY w.n LIMIT 1),
                c.content) AS content,
       v.likes_count, v.highlighted, v.internal, v.status, v.deleted, v.post_id, v.creator_id, v.kind
  FROM comment_versions v JOIN comments c ON c.id = v.comment_id
UNION ALL
SELECT id, version_at, content, likes_count, highlighted, internal, status, deleted_at IS NOT NULL, post_id, creator_id, kind
  FROM comments;

CREATE VIEW post_groups AS
WITH RECURSIVE
  pairs (a, b) AS (SELECT post_id, same_as FROM same_posts UNION ALL SELECT same_as, post_id FROM same_posts),
  reached (id, other) AS (SELECT a, a FROM pairs UNION SELECT r.id, p.b FROM reached r JOIN pairs p ON p.a = r.other)
SELECT id AS post_id, min(other) AS group_id FROM reached GROUP BY id;

CREATE TRIGGER posts_packed_update
AFTER UPDATE OF creator_id, board_id, status_id, votes_count, comments_count, created, version_at, deleted_at ON posts
WHEN NEW.id <= (SELECT last FROM report_packed WHERE source = 'posts')
BEGIN
  INSERT INTO report_changes VALUES ('posts', NEW.id) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER comments_packed_update
AFTER UPDATE OF post_id, creator_id, kind, internal, created, deleted_at ON comments
WHEN min(OLD.post_id, NEW.post_id) <= (SELECT last FROM report_packed WHERE source = 'comments')
BEGIN
  INSERT INTO report_changes SELECT 'comments', post FROM (SELECT OLD.post_id AS post UNION SELECT NEW.post_id)
   WHERE post <= (SELECT last FROM report_packed WHERE source = 'comments') ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER versions_packed_insert AFTER INSERT ON post_versions
WHEN NEW.post_id <= (SELECT last FROM report_packed WHERE source = 'versions')
BEGIN
  INSERT INTO report_changes VALUES ('versions', NEW.post_id) ON CONFLICT DO NOTHING;
END;

CREATE VIEW live_comments AS
SELECT c.id, c.post_id, coalesce(CASE WHEN p.deleted_at IS NULL THEN p.title END, r.title) AS post_title, b.name AS board,
       c.creator_id, u.name AS creator, u.email AS creator_email, u.is_team AS creator_is_team,
       c.kind, c.status, c.likes_count, c.highlighted, c.internal, c.content, c.created, c.extra,
       c.first_seen_at, c.changed_at
  FROM comments c
  JOIN users u ON u.id = c.creator_id
  JOIN commented_posts r ON r.id = c.post_id
  LEFT JOIN posts p ON p.id = c.post_id
  LEFT JOIN boards b ON b.id = p.board_id
 WHERE c.deleted_at IS NULL;

CREATE TABLE "absences" (
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
  accepted  INTEGER NOT NULL DEFAULT 0 CHECK (accepted IN (0, 1)), misses TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (resource, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE returned_rows (
  resource  TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  id        INTEGER NOT NULL,
  way       TEXT NOT NULL,
  before_id INTEGER,
  after_id  INTEGER,
  PRIMARY KEY (resource, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE list_pages (
  resource TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  n        INTEGER NOT NULL,
  ids      BLOB NOT NULL,
  PRIMARY KEY (resource, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE "sync_state" (
  resource TEXT PRIMARY KEY CHECK (resource IN ('posts', 'comments')),
  run_id   INTEGER REFERENCES sync_runs (id),
  state    TEXT,
  learned  TEXT,
  -- Deleted rows that a pass has shown again since the last complete sweep.
  restored INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE "sync_runs" (
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

CREATE INDEX sync_runs_by_resource ON sync_runs (resource, mode, id);

CREATE INDEX sync_runs_under_way ON sync_runs (resource, mode) WHERE outcome = 'running';

CREATE TABLE sweep_pages (
  run_id INTEGER NOT NULL REFERENCES sync_runs (id),
  n      INTEGER NOT NULL,
  ids    BLOB NOT NULL,
  PRIMARY KEY (run_id, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_marked ON outbox (id) WHERE mark IS NOT NULL;

CREATE INDEX outbox_seconds ON outbox (duplicate_of) WHERE duplicate_of IS NOT NULL;

CREATE TABLE former_board_slugs (
  slug     TEXT    NOT NULL,
  board_id INTEGER NOT NULL,
  PRIMARY KEY (slug, board_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER board_renamed AFTER UPDATE OF slug ON boards WHEN old.slug <> new.slug
BEGIN
  INSERT INTO former_board_slugs (slug, board_id) VALUES (old.slug, old.id) ON CONFLICT DO NOTHING;
END;

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

CREATE TABLE people_segments (
  user_id    INTEGER PRIMARY KEY,
  segment_id INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX people_segments_by_segment ON people_segments (segment_id);

CREATE TRIGGER user_segment_added AFTER INSERT ON users WHEN new.email IS NOT NULL AND EXISTS (SELECT 1 FROM segments)
BEGIN
  DELETE FROM people_segments WHERE user_id = new.id;
  INSERT INTO people_segments (user_id, segment_id)
    SELECT new.id, id FROM segments
     WHERE email = lower(trim(new.email)) OR domain = lower(trim(substr(new.email, instr(new.email, '@') + 1)))
     ORDER BY email IS NULL LIMIT 1;
END;

CREATE TRIGGER user_segment_changed AFTER UPDATE OF email ON users WHEN new.email IS NOT old.email
BEGIN
  DELETE FROM people_segments WHERE user_id = new.id;
  INSERT INTO people_segments (user_id, segment_id)
    SELECT new.id, id FROM segments
     WHERE email = lower(trim(new.email)) OR domain = lower(trim(substr(new.email, instr(new.email, '@') + 1)))
     ORDER BY email IS NULL LIMIT 1;
END;

CREATE TABLE told_people (
  post_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  told_at TEXT NOT NULL,
  told_by TEXT NOT NULL,
  PRIMARY KEY (post_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rules (
  name       TEXT PRIMARY KEY,
  -- The last change and the moment that its messages tell of.
  position   INTEGER NOT NULL,
  checked_at TEXT NOT NULL,
  -- The last moment of its schedule for which it looked; NULL for a rule that tells at once.
  slot       TEXT,
  paused_at  TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE rule_messages (
  rule    TEXT NOT NULL,
  key     TEXT NOT NULL,
  made_at TEXT NOT NULL,
  since   TEXT NOT NULL,
  until   TEXT NOT NULL,
  items   TEXT NOT NULL,
  PRIMARY KEY (rule, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE rule_deliveries (
  rule       TEXT NOT NULL,
  key        TEXT NOT NULL,
  channel    TEXT NOT NULL,
  state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sending', 'sent', 'failed')),
  attempts   INTEGER NOT NULL DEFAULT 0,
  -- 1 where an attempt got no answer: the channel may have the message, and the next one says that it is repeated.
  unclear    INTEGER NOT NULL DEFAULT 0 CHECK (unclear IN (0, 1)),
  not_before TEXT,
  sent_at    TEXT,
  error      TEXT,
  PRIMARY KEY (rule, key, channel),
  FOREIGN KEY (rule, key) REFERENCES rule_messages (rule, key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX rule_deliveries_open ON rule_deliveries (channel, state) WHERE state IN ('waiting', 'sending');

CREATE TABLE rule_alarms (
  rule     TEXT NOT NULL,
  board_id INTEGER NOT NULL,
  at       TEXT NOT NULL,
  PRIMARY KEY (rule, board_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE wire_fields (
  resource TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  path     TEXT NOT NULL,
  kinds    TEXT NOT NULL,
  -- In the rows of the last complete look: how many had it, of how many.
  seen     INTEGER NOT NULL,
  rows     INTEGER NOT NULL,
  PRIMARY KEY (resource, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE drifts (
  n        INTEGER PRIMARY KEY,
  resource TEXT NOT NULL,
  path     TEXT NOT NULL,
  change   TEXT NOT NULL CHECK (change IN ('appeared', 'vanished', 'kind')),
  before   TEXT,
  after    TEXT,
  example  INTEGER,
  since    TEXT NOT NULL,
  ended_at TEXT
) STRICT;

CREATE INDEX posts_by_votes ON posts (votes_count);

CREATE INDEX posts_by_created ON posts (created, deleted_at);
