-- Sessions that another one started. helper is JSON: whose it is, and its
-- bounds; NULL for a session of the user's.
ALTER TABLE sessions ADD COLUMN helper TEXT;
CREATE INDEX sessions_by_parent ON sessions (helper ->> '$.parent') WHERE helper IS NOT NULL;
