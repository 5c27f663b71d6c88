-- A pass that is cut short is taken up by the next one: it costs time, not rows.
WITH
pass AS (
  SELECT resource, mode, outcome, rows, inserted, updated, deleted, held, quarantined, finished_at,
         (julianday(finished_at) - julianday(started_at)) * 86400 AS seconds
    FROM sync_runs WHERE started_at >= $since AND started_at < $until
)
SELECT resource AS list, mode AS pass, count(*) AS passes, count(*) FILTER (WHERE outcome = 'complete') AS complete,
       count(*) FILTER (WHERE outcome IN ('failed', 'interrupted')) AS cut_short,
       median(iif(outcome = 'complete', seconds, NULL)) AS median_time,
       unixepoch($now) - unixepoch(max(iif(outcome = 'complete', finished_at, NULL))) AS last_complete,
       sum(inserted) AS added, sum(updated) AS changed, sum(deleted) AS deleted, sum(quarantined) AS quarantined
  FROM pass GROUP BY resource, mode ORDER BY resource DESC, mode DESC
