-- Search for everybody: the index holds texts as src/base/words.ts writes them, with marks as parts of words (Hindi is made of them).
-- Every row is indexed anew, in chunks, with the next pass.
DROP TABLE posts_text;

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

-- Merging begins once all is indexed, and a word that leaves a text leaves the index with it.
INSERT INTO posts_text (posts_text, rank) VALUES ('automerge', 0), ('secure-delete', 1);
INSERT INTO comments_text (comments_text, rank) VALUES ('automerge', 0), ('secure-delete', 1);
UPDATE meta SET value = '-1' WHERE key = 'text_indexed_to';
INSERT INTO meta (key, value) VALUES ('comments_indexed_to', '-1');

-- Posts that a person has said to be the same. Undone by deleting the row; the upstream never hears of it.
CREATE TABLE same_posts (
  post_id   INTEGER NOT NULL,
  same_as   INTEGER NOT NULL,
  marked_at TEXT NOT NULL,
  PRIMARY KEY (post_id, same_as),
  CHECK (post_id < same_as)
) STRICT, WITHOUT ROWID;

CREATE INDEX same_posts_by_other ON same_posts (same_as);

-- Each post that is the same as another, with the lowest number of all that are the same.
CREATE VIEW post_groups AS
WITH RECURSIVE
  pairs (a, b) AS (SELECT post_id, same_as FROM same_posts UNION ALL SELECT same_as, post_id FROM same_posts),
  reached (id, other) AS (SELECT a, a FROM pairs UNION SELECT r.id, p.b FROM reached r JOIN pairs p ON p.a = r.other)
SELECT id AS post_id, min(other) AS group_id FROM reached GROUP BY id;
