select board,
       count(*) as posts,
       coalesce(sum(votes_count), 0) as votes
  from {{ source('mirror', 'live_posts') }}
 group by board
