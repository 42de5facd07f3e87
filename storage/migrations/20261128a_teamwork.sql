-- The tasks that a session and its agents share, one row for each. details is JSON: the
-- description, the output, the dependencies and what else is noted. A task that was
-- deleted keeps its row while it has the highest number, which is not given again.
CREATE TABLE tasks (
  session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  number     INTEGER NOT NULL,
  subject    TEXT NOT NULL,
  status     TEXT NOT NULL,
  owner      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  details    TEXT NOT NULL,
  checksum   INTEGER, -- NULL in rows that were moved from settings
  PRIMARY KEY (session, number)
);

-- The teams of a session and its agents. members is JSON.
CREATE TABLE teams (
  session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  number     INTEGER NOT NULL,
  name       TEXT NOT NULL,
  status     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  members    TEXT NOT NULL, -- with the leader
  checksum   INTEGER NOT NULL,
  PRIMARY KEY (session, number)
);

-- What agents wrote to each other. session is the user's; reader the session whose queue
-- the message was put into, empty while there is none. The checksum covers what does not
-- change: all but the reader, the state and when it was delivered.
CREATE TABLE mail (
  id           TEXT PRIMARY KEY,
  session      TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  team         TEXT NOT NULL,
  sender       TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  type         TEXT NOT NULL,
  text         TEXT NOT NULL,
  at           INTEGER NOT NULL,
  reader       TEXT NOT NULL,
  state        TEXT NOT NULL,
  delivered_at INTEGER NOT NULL,
  checksum     INTEGER NOT NULL
);
CREATE INDEX mail_by_session ON mail (session, at);

-- A message leaves the queue in the transaction that stores its delivery.
CREATE TRIGGER mail_delivered AFTER DELETE ON queue BEGIN
  UPDATE mail SET state = 'delivered', delivered_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
  WHERE id = OLD.id AND state = 'queued';
END;

-- Boards were settings.
INSERT INTO tasks (session, number, subject, status, owner, created_at, updated_at, details)
SELECT substr(s.key, 7), CAST(substr(t.value ->> '$.id', 6) AS INTEGER), coalesce(t.value ->> '$.subject', ''),
  coalesce(t.value ->> '$.status', 'pending'), coalesce(t.value ->> '$.owner', ''),
  coalesce(t.value ->> '$.created_at', 0), coalesce(t.value ->> '$.updated_at', 0),
  json_object('description', coalesce(t.value ->> '$.description', ''), 'output', coalesce(t.value ->> '$.output', ''),
    'blocked_by', json(coalesce(t.value -> '$.blocked_by', '[]')), 'blocks', json(coalesce(t.value -> '$.blocks', '[]')),
    'metadata', json(coalesce(t.value -> '$.metadata', '{}')))
FROM settings s, json_each(iif(json_valid(s.value), s.value, '{}'), '$.tasks') t
WHERE s.key GLOB 'board.*' AND substr(s.key, 7) IN (SELECT id FROM sessions)
  AND t.type = 'object' AND t.value ->> '$.id' GLOB 'task_[1-9]*'
ON CONFLICT DO NOTHING;
UPDATE settings SET value = '', checksum = NULL WHERE key GLOB 'board.*';
