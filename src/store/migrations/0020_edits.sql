-- A word that leaves a text by an edit is only marked in the index from here on: taking it out of every page that has it took a tenth of a
-- second a post, and a service that writes all its texts anew held up everything for hours. An erasure still takes it out at once, and
-- the rest with the file that is rewritten after it.
INSERT INTO posts_text (posts_text, rank) VALUES ('secure-delete', 0);
INSERT INTO comments_text (comments_text, rank) VALUES ('secure-delete', 0);
