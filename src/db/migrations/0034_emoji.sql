-- Emoji stand in the index as words from here on, so that they can be searched for (src/text/words.ts). Every row is indexed again, in
-- chunks, with the next pass. A mirror that was never indexed stays one.
INSERT INTO posts_text (posts_text) VALUES ('delete-all');
INSERT INTO comments_text (comments_text) VALUES ('delete-all');
INSERT INTO posts_text (posts_text, rank) VALUES ('automerge', 0);
INSERT INTO comments_text (comments_text, rank) VALUES ('automerge', 0);
UPDATE meta SET value = '0' WHERE key IN ('text_indexed_to', 'comments_indexed_to') AND value <> '-1';
