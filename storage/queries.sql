-- name: insert-session
INSERT INTO sessions (id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: update-session
UPDATE sessions SET title = ?, state = ?, settings = ?, updated_at = ?, seq = ?, last_end = ?, usage = ?, context = ?
WHERE id = ?;

-- name: select-session
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context
FROM sessions WHERE id = ?;

-- name: select-sessions
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context
FROM sessions WHERE folder = ? ORDER BY updated_at DESC, id DESC;

-- name: delete-session
DELETE FROM sessions WHERE id = ?;

-- name: insert-event
INSERT INTO events (session, seq, turn, kind, at, body, blob, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: select-oldest-events
SELECT seq, turn, kind, at, body, blob, checksum FROM events
WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq LIMIT ?;

-- name: select-newest-events
SELECT seq, turn, kind, at, body, blob, checksum FROM (
  SELECT * FROM events WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq DESC LIMIT ?
) ORDER BY seq;

-- name: insert-approval
INSERT INTO approvals (id, session, call) VALUES (?, ?, ?);

-- name: delete-approval
DELETE FROM approvals WHERE session = ? AND call = ?;

-- name: select-approval
SELECT session FROM approvals WHERE id = ?;

-- name: select-setting
SELECT value FROM settings WHERE key = ?;

-- name: upsert-setting
INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
