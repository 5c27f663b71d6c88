-- Posts by the customers of the file who made them or commented on them, each customer once a post.
WITH
person AS MATERIALIZED (
  SELECT j.key AS line, json_extract(j.value, '$.group') AS part, json_extract(j.value, '$.amount') AS amount, u.value AS user_id
    FROM json_each($segments) j JOIN json_each(j.value, '$.users') u
),
wrote (post_id, user_id) AS MATERIALIZED (
  SELECT p.id, p.creator_id FROM posts p
   WHERE p.deleted_at IS NULL AND p.created >= $since AND p.created < $until AND ($board IS NULL OR p.board_id = $board)
     AND p.status_id NOT IN (SELECT value FROM json_each($finished))
     AND ($statuses = '[]' OR p.status_id IN (SELECT value FROM json_each($statuses)))
     AND p.creator_id IN (SELECT user_id FROM person)
  UNION ALL
  SELECT c.post_id, c.creator_id FROM comments c
   WHERE c.deleted_at IS NULL AND c.created >= $since AND c.created < $until
     AND c.creator_id IN (SELECT user_id FROM person)
     AND EXISTS (SELECT 1 FROM posts p
                  WHERE p.id = c.post_id AND p.deleted_at IS NULL AND ($board IS NULL OR p.board_id = $board)
                    AND p.status_id NOT IN (SELECT value FROM json_each($finished))
     AND ($statuses = '[]' OR p.status_id IN (SELECT value FROM json_each($statuses))))
),
-- A left join, though every row has its match: the planner then indexes the people instead of reading all for each row.
voice (post_id, line) AS MATERIALIZED (
  SELECT DISTINCT wrote.post_id, person.line FROM wrote LEFT JOIN person ON person.user_id = wrote.user_id
),
listed AS MATERIALIZED (SELECT DISTINCT line, part, amount FROM person),
wanted AS MATERIALIZED (
  SELECT voice.post_id, count(*) AS customers, sum(listed.amount) AS amount
    FROM voice JOIN listed ON listed.line = voice.line
   GROUP BY voice.post_id ORDER BY amount DESC NULLS LAST, customers DESC, voice.post_id LIMIT $limit
)
SELECT p.id AS post, wanted.customers, wanted.amount,
       (SELECT group_concat(n || ' ' || part, ', ')
          FROM (SELECT coalesce(listed.part, '(none)') AS part, count(*) AS n
                  FROM voice JOIN listed ON listed.line = voice.line
                 WHERE voice.post_id = wanted.post_id GROUP BY 1 ORDER BY n DESC, 1)) AS segments,
       p.votes_count AS votes, s.name AS status, b.name AS board, p.title
  FROM wanted JOIN posts p ON p.id = wanted.post_id
  JOIN boards b ON b.id = p.board_id JOIN statuses s ON s.id = p.status_id
 ORDER BY wanted.amount DESC NULLS LAST, wanted.customers DESC, p.id
