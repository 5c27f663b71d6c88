-- Short names that a board had before it was renamed: a row that was sent to one of them is known again by the board's id.
CREATE TABLE former_board_slugs (
  slug     TEXT    NOT NULL,
  board_id INTEGER NOT NULL,
  PRIMARY KEY (slug, board_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER board_renamed AFTER UPDATE OF slug ON boards WHEN old.slug <> new.slug
BEGIN
  INSERT INTO former_board_slugs (slug, board_id) VALUES (old.slug, old.id) ON CONFLICT DO NOTHING;
END;
