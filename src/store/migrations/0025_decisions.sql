-- Those of its candidates that were there when the row last came to wait for a decision: none was clearly its own. To have it sent again,
-- or to drop it, is an answer about them, and not about a post that turned up later. A JSON list of ids.
ALTER TABLE outbox ADD COLUMN judged TEXT NOT NULL DEFAULT '[]';
