-- Messages that the user wrote during a turn and that are not delivered yet. A
-- row is deleted in the transaction that stores its delivery.
CREATE TABLE queue (
  id       TEXT PRIMARY KEY,
  session  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  verb     TEXT NOT NULL,
  text     TEXT NOT NULL
);
CREATE INDEX queue_by_session ON queue (session, position);
