-- The rows of the customers file, grouped by one of its columns, with what these people wrote. One person can stand in the
-- mirror more than once under the same e-mail; each row of the file still counts once.
WITH
listed AS MATERIALIZED (
  SELECT key AS line, json_extract(value, '$.group') AS part, json_extract(value, '$.amount') AS amount,
         json_extract(value, '$.users') AS users
    FROM json_each($segments)
),
person AS MATERIALIZED (
  SELECT listed.line, listed.part, listed.amount, u.value AS user_id
    FROM listed JOIN json_each(listed.users) u
),
asked AS MATERIALIZED (
  SELECT creator_id, count(*) AS posts, sum(votes_count) AS votes FROM posts
   WHERE deleted_at IS NULL AND created >= $since AND created < $until AND ($board IS NULL OR board_id = $board)
     AND creator_id IN (SELECT user_id FROM person)
   GROUP BY creator_id
),
said AS MATERIALIZED (
  SELECT c.creator_id, count(*) AS comments FROM comments c
   WHERE c.deleted_at IS NULL AND c.created >= $since AND c.created < $until
     AND c.creator_id IN (SELECT user_id FROM person)
     AND ($board IS NULL OR (SELECT p.board_id FROM posts p WHERE p.id = c.post_id) = $board)
   GROUP BY c.creator_id
),
voice AS (
  SELECT person.part, count(DISTINCT person.line) AS found,
         count(DISTINCT iif(asked.posts > 0 OR said.comments > 0, person.line, NULL)) AS heard,
         total(asked.posts) AS posts, total(said.comments) AS comments, total(asked.votes) AS votes
    FROM person LEFT JOIN asked ON asked.creator_id = person.user_id LEFT JOIN said ON said.creator_id = person.user_id
   GROUP BY person.part
),
part AS (SELECT part, count(*) AS customers, sum(amount) AS amount FROM listed GROUP BY part)
SELECT part.part AS segment, part.customers, coalesce(voice.found, 0) AS found, coalesce(voice.heard, 0) AS heard,
       part.amount, CAST(coalesce(voice.posts, 0) AS INTEGER) AS posts, CAST(coalesce(voice.comments, 0) AS INTEGER) AS comments,
       CAST(coalesce(voice.votes, 0) AS INTEGER) AS votes
  FROM part LEFT JOIN voice ON voice.part IS part.part
 ORDER BY part.amount DESC NULLS LAST, posts + comments DESC, votes DESC, segment LIMIT $limit
