select p.id,
       p.title,
       p.board,
       p.votes_count,
       p.created
  from {{ source('mirror', 'live_posts') }} p
 where not exists (
         select 1
           from {{ source('mirror', 'live_comments') }} c
          where c.post_id = p.id
            and c.creator_is_team
       )
