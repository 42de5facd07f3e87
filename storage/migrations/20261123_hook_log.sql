-- What hooks did: one row for each hook that was considered. row is what lists
-- show and body the rest, both JSON. The first checksum covers all but the body, which
-- has its own, so that a list reads no bodies. Only the newest rows are kept.
CREATE TABLE hook_log (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  session  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  at       INTEGER NOT NULL,
  hook     TEXT NOT NULL,
  point    TEXT NOT NULL,
  tool     TEXT NOT NULL,
  call     TEXT NOT NULL,
  outcome  TEXT NOT NULL,
  row      BLOB NOT NULL,
  size     INTEGER NOT NULL, -- of row and body
  checksum INTEGER NOT NULL,
  body     BLOB NOT NULL,
  body_checksum INTEGER NOT NULL
);
CREATE INDEX hook_log_by_session ON hook_log (session, id);
CREATE INDEX hook_log_by_hook ON hook_log (hook, id);
CREATE INDEX hook_log_by_size ON hook_log (id, size);
