-- Rows besides events are checked, too. NULL is a row from before, which is
-- taken as it is until it is written next. A damaged session's row is folded
-- again from its events; settings are asked for again.
ALTER TABLE sessions ADD COLUMN checksum INTEGER;
ALTER TABLE settings ADD COLUMN checksum INTEGER;

-- A column of its own for the parent: an index on JSON fails where that is damaged.
ALTER TABLE sessions ADD COLUMN parent TEXT;
UPDATE sessions SET parent = CASE WHEN json_valid(helper) THEN helper ->> '$.parent' END WHERE helper IS NOT NULL;
DROP INDEX sessions_by_parent;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
