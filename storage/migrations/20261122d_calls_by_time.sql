-- The ends of tool calls of all sessions, by time: what ran, and by whose
-- authority. SQLite adds the primary key to each entry.
CREATE INDEX calls_by_time ON events (at) WHERE kind = 'tool_call_end';
