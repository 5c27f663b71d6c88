-- Which pass over the posts was the latest when an attempt ended, for posts that no pass had shown by then. How long a list lags behind is
-- told by the order of answers and passes, which no clock can turn round. Earlier ones are filled in by their times, as far as the program
-- looks back.
ALTER TABLE outbox_attempts ADD COLUMN after_run INTEGER;

UPDATE outbox_attempts
   SET after_run = (SELECT coalesce(max(id), 0) FROM sync_runs WHERE resource = 'posts' AND started_at <= outbox_attempts.ended_at)
 WHERE (outbox_id, n) IN (SELECT outbox_id, n FROM outbox_attempts WHERE outcome = 'confirmed' ORDER BY ended_at DESC LIMIT 500);
