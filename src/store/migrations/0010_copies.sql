-- Of copies that differ, that of the newest row counts: nothing has to be remembered about the others.
DROP TABLE user_views;
