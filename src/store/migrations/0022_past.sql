-- Finds where a post was, and what a board or a status was called, when a change happened: the next move or rename tells what was before it.
-- Few changes are of these types, and a first sweep writes none.
CREATE INDEX changes_of_names ON changes (type, id) WHERE type IN ('post.moved', 'board.updated', 'status.updated');
