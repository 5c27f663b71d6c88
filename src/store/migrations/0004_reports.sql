-- What reports read: with a million posts, the table of posts is a gigabyte and these are a tenth of it. An index by votes was
-- tried as well: it made rankings of a second instant, and every new or changed row a tenth dearer.

-- The one on posts, posts_facts, is made in bulk once the first rows are in: src/store/mirror/facts-index.ts.

-- The same two indexes as before, wide enough to answer without a look at the table.
DROP INDEX post_versions_by_post;
CREATE INDEX post_versions_by_post ON post_versions (post_id, n, observed_at, status_id, votes_count, deleted);
DROP INDEX comments_by_post;
CREATE INDEX comments_by_post ON comments (post_id, created, creator_id, internal, deleted_at);
