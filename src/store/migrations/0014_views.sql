-- Lists and reports with their filters, as people keep them on the dashboard. Names are kept apart by the program, as those of
-- saved_queries are: erasing an address must be able to make two of them the same.
CREATE TABLE saved_views (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL,
  address    TEXT NOT NULL,
  created_at TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;
