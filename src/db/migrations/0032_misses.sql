-- How often each row was missed in each way (src/mirror/decide/absence.ts): what the list teaches later counts for earlier misses too. A
-- score does not tell, so rows that are missing begin again. Rows that the mass-delete guard holds had a full score and keep it.
DELETE FROM absences WHERE held = 0 AND accepted = 0;
ALTER TABLE absences ADD COLUMN misses TEXT NOT NULL DEFAULT '{}';
UPDATE absences SET misses = '{"inside":100}';
