-- Which steps changed a file, so that the logs need not be searched for it: one row
-- for each file and step. It is derived from the events that say so. Rows of other
-- sessions' files have the same path: the session says which folder is meant.
CREATE TABLE file_steps (
  path    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq     INTEGER NOT NULL, -- of the event
  kind    TEXT NOT NULL,    -- of the event
  call    TEXT NOT NULL,    -- the id of the call, of the command or of the restoration
  PRIMARY KEY (path, at, session, seq)
) WITHOUT ROWID;
CREATE INDEX file_steps_by_session ON file_steps (session);
