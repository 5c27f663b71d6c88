-- Finds a post by its address where that does not have its number in it. Most services number their addresses, and pay nothing for this.
CREATE INDEX posts_by_url ON posts (url) WHERE instr(url, id) = 0;
