-- How far each rule of RULES_FILE has looked. What the rule is, and its channels, are in the file only.
CREATE TABLE rules (
  name       TEXT PRIMARY KEY,
  -- The last change and the moment that its messages tell of.
  position   INTEGER NOT NULL,
  checked_at TEXT NOT NULL,
  -- The last moment of its schedule for which it looked; NULL for a rule that tells at once.
  slot       TEXT,
  paused_at  TEXT
) STRICT, WITHOUT ROWID;

-- Each message once: its key is the rule and the period. It holds numbers and ids; the words are read when it is sent.
CREATE TABLE rule_messages (
  rule    TEXT NOT NULL,
  key     TEXT NOT NULL,
  made_at TEXT NOT NULL,
  since   TEXT NOT NULL,
  until   TEXT NOT NULL,
  items   TEXT NOT NULL,
  PRIMARY KEY (rule, key)
) STRICT, WITHOUT ROWID;

-- What became of a message in each of its channels.
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

-- Boards that a rule told of as unusual, and when: a busy week is told of once.
CREATE TABLE rule_alarms (
  rule     TEXT NOT NULL,
  board_id INTEGER NOT NULL,
  at       TEXT NOT NULL,
  PRIMARY KEY (rule, board_id)
) STRICT, WITHOUT ROWID;

-- What the rows of each list look like: a field, where it is, and the kinds of values it had.
CREATE TABLE wire_fields (
  resource TEXT NOT NULL CHECK (resource IN ('posts', 'comments')),
  path     TEXT NOT NULL,
  kinds    TEXT NOT NULL,
  -- In the rows of the last complete look: how many had it, of how many.
  seen     INTEGER NOT NULL,
  rows     INTEGER NOT NULL,
  PRIMARY KEY (resource, path)
) STRICT, WITHOUT ROWID;

-- Fields that vanished, appeared or changed their kind. The example is a kind and a shape, not a value of a person.
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
