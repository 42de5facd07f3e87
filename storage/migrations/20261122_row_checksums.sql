-- Other rows than events have checksums, too. NULL marks an older row, which is
-- accepted until it is next written. A damaged row of a session is folded again
-- from its events; the user has to enter damaged settings again.
ALTER TABLE sessions ADD COLUMN checksum INTEGER;
ALTER TABLE settings ADD COLUMN checksum INTEGER;

-- The parent has a column of its own, because an index on damaged JSON fails.
ALTER TABLE sessions ADD COLUMN parent TEXT;
UPDATE sessions SET parent = CASE WHEN json_valid(helper) THEN helper ->> '$.parent' END WHERE helper IS NOT NULL;
DROP INDEX sessions_by_parent;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
