-- Sessions and their logs. sessions has the rows that lists show. A row is a
-- fold of events, written in the transaction that appends one.
CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  folder     TEXT NOT NULL,
  title      TEXT NOT NULL,
  state      TEXT NOT NULL,
  settings   TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  last_end   TEXT NOT NULL,
  usage      TEXT NOT NULL, -- JSON
  context    INTEGER NOT NULL
);
CREATE INDEX sessions_by_folder ON sessions (folder, updated_at DESC);

-- The log. body is the event's data as JSON; if blob is set, the data is in the
-- file of that name. checksum covers the row's content.
CREATE TABLE events (
  session  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq      INTEGER NOT NULL,
  turn     INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  at       INTEGER NOT NULL,
  body     BLOB NOT NULL,
  blob     TEXT,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;

-- Requests for approval that nobody has answered yet.
CREATE TABLE approvals (
  id      TEXT PRIMARY KEY,
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  call    TEXT NOT NULL
);
CREATE INDEX approvals_by_call ON approvals (session, call);

CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
