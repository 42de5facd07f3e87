-- Sessions that another one started. helper is JSON with the parent and the
-- limits; NULL for the user's own session.
ALTER TABLE sessions ADD COLUMN helper TEXT;
CREATE INDEX sessions_by_parent ON sessions (helper ->> '$.parent') WHERE helper IS NOT NULL;
