-- What the user wrote while a turn ran and nobody has read yet. A row goes in
-- the transaction that stores its delivery.
CREATE TABLE queue (
  id       TEXT PRIMARY KEY,
  session  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  verb     TEXT NOT NULL,
  text     TEXT NOT NULL
);
CREATE INDEX queue_by_session ON queue (session, position);
