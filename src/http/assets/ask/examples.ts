/** Statements to begin with; each shows something the tables can tell. */
export const EXAMPLES: readonly { name: string; sql: string }[] = [
  {
    name: 'Posts and votes by board',
    sql: `SELECT board, count(*) AS posts, sum(votes_count) AS votes
  FROM live_posts
 GROUP BY board
 ORDER BY votes DESC`,
  },
  {
    name: 'New posts by month',
    sql: `SELECT strftime('%Y-%m', created) AS month, count(*) AS posts
  FROM live_posts
 GROUP BY month
 ORDER BY month`,
  },
  {
    name: 'What people wait for: many votes, no comment',
    sql: `SELECT id AS post_id, title, board, status, votes_count
  FROM live_posts
 WHERE comments_count = 0
 ORDER BY votes_count DESC
 LIMIT 50`,
  },
  {
    name: 'Posts whose votes moved this week',
    sql: `SELECT p.id AS post_id, p.title, p.votes_count - min(h.votes_count) AS gained, p.votes_count AS votes
  FROM post_history h
  JOIN live_posts p ON p.id = h.post_id
 WHERE h.observed_at >= date('now', '-7 days')
 GROUP BY p.id
HAVING gained > 0
 ORDER BY gained DESC
 LIMIT 50`,
  },
  {
    name: 'What each pass over the upstream did',
    sql: `SELECT started_at, resource, mode, outcome, rows, inserted, updated, deleted
  FROM sync_runs
 ORDER BY id DESC
 LIMIT 100`,
  },
];
