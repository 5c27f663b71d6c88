-- The posts with the most votes are what most questions in SQL begin with. Without the index SQLite reads every post for the first ten. It is
-- no partial index of live posts: SQLite would choose that for every walk over live posts, which takes three times as long.
CREATE INDEX posts_by_votes ON posts (votes_count);

-- With the deletion in it, questions about how many posts there were in which time read no post.
DROP INDEX posts_by_created;
CREATE INDEX posts_by_created ON posts (created, deleted_at);
