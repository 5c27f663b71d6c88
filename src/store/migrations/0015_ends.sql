-- What speaks against a row beyond the last row that was shown does not add up with what was seen between other rows: a list that is cut
-- short looks the same. Evidence of the earlier rule had both in one count, so it starts anew.
ALTER TABLE absences ADD COLUMN end_sweeps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE absences ADD COLUMN end_reads INTEGER NOT NULL DEFAULT 0;
UPDATE absences SET sweeps = 0, gap_sweeps = 0, accepted = 0;

-- The share of its rows that the list has lately left out of a sweep and shown again in the next.
ALTER TABLE sync_state ADD COLUMN leak REAL NOT NULL DEFAULT 0;
