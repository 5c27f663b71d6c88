-- A service may give a post of a person to somebody else: only its version then tells whose words it holds. A change of the author makes
-- a version from now on. Of versions from before the author is not known: NULL.
ALTER TABLE post_versions ADD COLUMN creator_id INTEGER;
