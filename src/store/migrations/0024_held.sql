-- Rows that are held until somebody accepts that they are gone, however many are missing with them later.
ALTER TABLE absences ADD COLUMN stays INTEGER NOT NULL DEFAULT 0;
UPDATE absences SET stays = held;
