-- Fails if the boards together do not have every post.
select total.posts, boards.posts as in_boards
  from (select count(*) as posts from {{ source('mirror', 'live_posts') }}) total,
       (select coalesce(sum(posts), 0) as posts from {{ ref('board_demand') }}) boards
 where total.posts <> boards.posts
