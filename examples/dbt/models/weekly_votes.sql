with seen as (
  select post_id,
         date_trunc('week', observed_at) as week,
         max(votes_count) - min(votes_count) as gained
    from {{ source('mirror', 'post_history') }}
   group by post_id, date_trunc('week', observed_at)
)
select p.board,
       s.week,
       sum(s.gained) as gained
  from seen s
  join {{ source('mirror', 'live_posts') }} p on p.id = s.post_id
 group by p.board, s.week
