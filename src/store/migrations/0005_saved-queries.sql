-- Statements that people keep on the Ask page, for everybody who uses this mirror.
-- Names are kept apart by the program and not by an index: erasing an address must be able to make two of them the same.
CREATE TABLE saved_queries (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  sql        TEXT NOT NULL,
  created_at TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;
