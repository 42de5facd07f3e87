-- name: insert-session
INSERT INTO sessions (id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: update-session
UPDATE sessions SET folder = ?2, title = ?3, state = ?4, settings = ?5, created_at = ?6, updated_at = ?7, seq = ?8,
  last_end = ?9, usage = ?10, context = ?11, cost = ?12, cost_unknown = ?13, lines_added = ?14, lines_removed = ?15,
  branch = ?16, helper = ?17, parent = ?18, details = ?19, checksum = ?20
WHERE id = ?1;

-- name: select-session
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum
FROM sessions WHERE id = ?;

-- name: select-sessions
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum
FROM sessions WHERE folder = ? ORDER BY updated_at DESC, id DESC;

-- name: count-waiting-sessions
SELECT folder, count(DISTINCT coalesce(nullif(parent, ''), id)) FROM sessions WHERE state = ? GROUP BY folder;

-- name: select-all-sessions
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum
FROM sessions;

-- name: select-lost-sessions
WITH RECURSIVE logs (id) AS (
  SELECT min(session) FROM events
  UNION ALL SELECT (SELECT min(session) FROM events WHERE session > logs.id) FROM logs WHERE logs.id IS NOT NULL
)
SELECT id FROM logs WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM sessions);

-- name: count-sessions
SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM events INDEXED BY first_events WHERE seq = 1);

-- name: select-lost-ends
SELECT s.id, coalesce((SELECT max(seq) FROM events WHERE session = s.id AND seq < 1 << 53), 0) + 1, s.seq FROM sessions s
WHERE s.seq > coalesce((SELECT max(seq) FROM events WHERE session = s.id AND seq < 1 << 53), 0);

-- name: select-helpers
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum
FROM sessions WHERE parent = ? ORDER BY id;

-- name: delete-session
DELETE FROM sessions WHERE id = ?;

-- name: delete-log
DELETE FROM events WHERE session = ?;

-- name: select-last-seq
SELECT coalesce(max(seq), 0) FROM events WHERE session = ? AND seq < 1 << 53;

-- name: select-log-size
SELECT coalesce(sum(length(body)), 0) FROM events WHERE session = ?;

-- name: insert-event
INSERT INTO events (session, seq, turn, kind, at, body, blob, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: select-oldest-events
SELECT seq, turn, kind, at, body, blob, checksum FROM events
WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq LIMIT ?;

-- name: select-newest-events
SELECT seq, turn, kind, at, body, blob, checksum FROM (
  SELECT * FROM events WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq DESC LIMIT ?
) ORDER BY seq;

-- name: select-call-ends
SELECT session, seq, turn, kind, at, body, blob, checksum FROM events INDEXED BY calls_by_time
WHERE kind = 'tool_call_end' AND (at, session, seq) < (?, ?, ?) AND at >= ? AND session IN (SELECT value FROM json_each(?))
ORDER BY at DESC, session DESC, seq DESC LIMIT ?;

-- name: select-call-events
SELECT seq, turn, kind, at, body, blob, checksum FROM events
WHERE session = ? AND seq < ? AND kind IN ('tool_call_start', 'approval_request', 'approval_answer', 'hook_end')
ORDER BY seq DESC LIMIT ?;

-- name: insert-file-step
INSERT OR REPLACE INTO file_steps (path, at, session, seq, kind, call) VALUES (?, ?, ?, ?, ?, ?);

-- name: delete-file-steps
DELETE FROM file_steps;

-- name: select-changing-events
SELECT session, seq, turn, kind, at, body, blob, checksum FROM events
WHERE kind IN ('tool_call_end', 'local_command_end', 'hook_end', 'files_restored') AND (session, seq) > (?, ?) ORDER BY session, seq LIMIT ?;

-- name: select-file-steps
-- A fork has copies of steps, with their times; the oldest session made them. What was
-- done in a worktree (?7, at the place ?8) is what its sessions have, copies too.
SELECT f.session, f.seq, f.kind, f.call, f.at, min(s.created_at),
  coalesce(iif(json_valid(s.helper), s.helper ->> '$.folder', NULL), '') AS agent_in,
  coalesce(iif(json_valid(s.details), (SELECT p.value FROM json_each(s.details, '$.places') p
    WHERE CAST(p.key AS INTEGER) < f.seq ORDER BY CAST(p.key AS INTEGER) DESC LIMIT 1), NULL),
    iif(json_valid(s.details), s.details ->> '$.worktree', NULL), '') AS tree
FROM file_steps f JOIN sessions s ON s.id = f.session
WHERE f.path = ?1 AND s.folder = ?2 AND (f.at, f.session, f.seq) < (?3, ?4, ?5)
  AND (?7 = '' OR agent_in = ?8 OR agent_in = '' AND tree = ?7)
GROUP BY f.at, f.call HAVING agent_in = ?8 OR agent_in = '' AND tree = ?7
ORDER BY f.at DESC, f.session DESC, f.seq DESC LIMIT ?6;

-- name: select-prompt
SELECT seq, turn, kind, at, body, blob, checksum FROM events
WHERE session = ?1 AND seq < ?2 AND seq > ?2 - 20000 AND turn = ?3 AND kind = 'user_input' ORDER BY seq DESC LIMIT 1;

-- name: select-model
SELECT provider, model FROM ledger
WHERE session = ?1 AND seq < ?2 AND seq > ?2 - 20000 AND turn = ?3 AND purpose IN ('turn', 'subagent') ORDER BY seq DESC LIMIT 1;

-- name: cost-of-turn
SELECT coalesce(sum(cost), 0), count(*) - count(cost), count(*) FROM ledger
WHERE session = ?1 AND seq > ?2 AND seq < ?2 + 20000 AND turn = ?3;

-- name: insert-approval
INSERT INTO approvals (id, session, call, seq) VALUES (?, ?, ?, ?);

-- name: delete-approval
DELETE FROM approvals WHERE session = ? AND call = ?;

-- name: select-approval
SELECT session FROM approvals WHERE id = ?;

-- name: select-approvals
SELECT id, session, seq FROM approvals;

-- name: select-setting
SELECT value, checksum FROM settings WHERE key = ?;

-- name: select-unfinished
SELECT key FROM settings WHERE key GLOB 'unfinished *' LIMIT 100;

-- name: delete-setting
DELETE FROM settings WHERE key = ?;

-- name: upsert-setting
INSERT INTO settings (key, value, checksum) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, checksum = excluded.checksum;

-- name: insert-ledger
INSERT INTO ledger (session, seq, folder, turn, purpose, provider, model, input, cache_read, cache_write, output, reasoning, cost, at, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: replace-ledger
REPLACE INTO ledger (session, seq, folder, turn, purpose, provider, model, input, cache_read, cache_write, output, reasoning, cost, at, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: select-ledger
SELECT session, seq, folder, turn, purpose, provider, model, input, cache_read, cache_write, output, reasoning, cost, at, checksum
FROM ledger WHERE checksum IS NOT NULL;

-- name: costs
-- The requests may be many, so one pass over them makes a few sums, and those make the groups. In every
-- time zone a day begins with a quarter of an hour.
WITH sums AS MATERIALIZED (
  SELECT provider, model, session, CASE WHEN session = ?2 THEN turn ELSE 0 END AS turn, purpose, at / 900000 AS quarter, max(at) AS at, count(*) AS requests,
    sum(input) AS input, sum(cache_read) AS cache_read, sum(cache_write) AS cache_write, sum(output) AS output,
    sum(reasoning) AS reasoning, count(input) AS known, sum(cost) AS cost, count(cost) AS priced
  FROM ledger
  WHERE folder = ?1 AND (?2 = '' OR session = ?2 OR session IN (SELECT id FROM sessions WHERE parent = ?2))
  GROUP BY provider, model, session, CASE WHEN session = ?2 THEN turn ELSE 0 END, purpose, quarter
), lines AS (
  SELECT 'model' AS part, provider AS of_provider, model AS of_model, '' AS of_session, '' AS day, 0 AS of_turn, '' AS of_purpose, * FROM sums
  UNION ALL SELECT 'session', '', '', session, '', 0, '', * FROM sums
  UNION ALL SELECT 'day', '', '', '', date(quarter * 900, 'unixepoch', 'localtime'), 0, '', * FROM sums
  UNION ALL SELECT 'turn', '', '', '', '', turn, '', * FROM sums WHERE turn > 0
  UNION ALL SELECT 'purpose', '', '', '', '', 0, purpose, * FROM sums
)
SELECT part, of_provider, of_model, of_session, coalesce(s.title, ''), day, of_turn, of_purpose,
  sum(requests), coalesce(sum(input), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0),
  coalesce(sum(output), 0), coalesce(sum(reasoning), 0), sum(requests) = sum(known),
  coalesce(sum(l.cost), 0), sum(requests) - sum(priced)
FROM lines l LEFT JOIN sessions s ON s.id = of_session
GROUP BY part, of_provider, of_model, of_session, day, of_turn, of_purpose
ORDER BY CASE part WHEN 'model' THEN sum(l.cost) WHEN 'purpose' THEN sum(l.cost) WHEN 'session' THEN max(l.at) WHEN 'turn' THEN of_turn ELSE day END DESC,
  of_provider, of_model, of_session, of_purpose;

-- name: costs-between
SELECT session, coalesce(sum(cost), 0), count(*) - count(cost) FROM ledger
WHERE folder = ? AND at >= ? AND at < ? GROUP BY session;

-- name: select-queue
SELECT id, verb, text, details FROM queue WHERE session = ? ORDER BY position, id;

-- name: insert-queued
INSERT INTO queue (id, session, position, verb, text, details)
VALUES (?1, ?2, (SELECT coalesce(max(position), 0) + 1 FROM queue WHERE session = ?2), ?3, ?4, ?5);

-- name: update-queued
UPDATE queue SET verb = ?, text = ?, details = ? WHERE id = ?;

-- name: move-queued
UPDATE queue SET position = ? WHERE id = ?;

-- name: delete-queued
DELETE FROM queue WHERE id = ?;

-- name: insert-hook-record
INSERT INTO hook_log (session, at, hook, point, tool, call, outcome, row, size, checksum, body, body_checksum)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1);

-- name: trim-hook-log-of-session
DELETE FROM hook_log WHERE session = ?1 AND id <= (SELECT id FROM hook_log WHERE session = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2);

-- name: trim-hook-log
DELETE FROM hook_log WHERE id <= (
  SELECT max(id) FROM (SELECT id, sum(size) OVER newest AS bytes, count(*) OVER newest AS rows FROM hook_log WINDOW newest AS (ORDER BY id DESC))
  WHERE rows > ?1 OR bytes > ?2);

-- name: select-hook-records
SELECT h.id, h.session, h.at, h.hook, h.point, h.tool, h.call, h.outcome, h.row, h.checksum
FROM hook_log h JOIN sessions s ON s.id = h.session
WHERE s.folder = ?1 AND (?2 = '' OR h.session = ?2 OR s.parent = ?2)
  AND (?3 = '' OR h.hook = ?3) AND (?4 = '' OR h.point = ?4) AND (?5 = '' OR h.tool = ?5)
  AND (?6 = '' OR h.call = ?6) AND (?7 = '' OR h.outcome = ?7) AND (?8 = 0 OR h.id < ?8)
ORDER BY h.id DESC LIMIT ?9;

-- name: select-hook-record
SELECT h.id, h.session, h.at, h.hook, h.point, h.tool, h.call, h.outcome, h.row, h.checksum, h.body, h.body_checksum
FROM hook_log h JOIN sessions s ON s.id = h.session WHERE s.folder = ? AND h.id = ?;

-- name: select-last-hook-record
SELECT h.id, h.session, h.at, h.hook, h.point, h.tool, h.call, h.outcome, h.row, h.checksum
FROM hook_log h JOIN sessions s ON s.id = h.session
WHERE h.hook = ?1 AND s.folder = ?2 AND (?3 = '' OR h.session = ?3 OR s.parent = ?3) AND h.outcome <> 'not_matched'
ORDER BY h.id DESC LIMIT 1;

-- name: select-log-heads
SELECT id, folder, seq, updated_at FROM sessions;

-- name: select-session-places
WITH cut AS (
  SELECT value AS id FROM json_each(?1, '$[1]')
), heads AS (
  SELECT id, updated_at, title, settings, iif(json_valid(details), details, '{}') AS details,
    CASE
      WHEN state = 'awaiting_input' OR EXISTS (SELECT 1 FROM sessions a WHERE a.parent = s.id AND a.state = 'awaiting_input') THEN 'awaiting_input'
      WHEN state = 'processing' AND id NOT IN cut
        OR EXISTS (SELECT 1 FROM sessions a WHERE a.parent = s.id AND a.state = 'processing' AND a.id NOT IN cut) THEN 'processing'
      ELSE 'idle'
    END AS state
  FROM sessions s
  WHERE folder IN (SELECT value FROM json_each(?1, '$[0]')) AND updated_at >= ?2 AND updated_at < ?3 AND (parent IS NULL OR NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = s.parent))
    AND substr(id, 1, length(?4)) = ?4 COLLATE NOCASE
), marked AS (
  SELECT id, updated_at, title, state, settings, details,
    coalesce(details ->> '$.marks.pinned', 0) AS pinned,
    CASE
      WHEN coalesce(details ->> '$.marks.deleted', 0) > 0 THEN 'deleted'
      WHEN coalesce(details ->> '$.marks.archived', 0) THEN 'archived'
      ELSE ''
    END AS view
  FROM heads
), placed AS (
  SELECT *, ?5 AND (pinned OR state <> 'idle') AS urgent FROM marked
  WHERE (?6 = 'all' OR view = ?6) AND (?7 = '' OR state = ?7) AND (NOT ?8 OR pinned)
    AND (?9 = '' OR EXISTS (SELECT 1 FROM json_each(details, '$.marks.tags') WHERE value = ?9))
    AND CASE WHEN ?10 = '' THEN 1 WHEN json_valid(settings) THEN ?10 IN (settings ->> '$.model', (settings ->> '$.provider') || '/' || (settings ->> '$.model')) ELSE 0 END
)
SELECT id, urgent, updated_at, title, coalesce(details ->> '$.prompt', ''), coalesce(details ->> '$.marks.label', ''),
  CASE WHEN ?11 THEN coalesce((SELECT group_concat(a.title, char(10)) FROM sessions a WHERE a.parent = placed.id), '') ELSE '' END
FROM placed WHERE ?12 = '' OR (urgent, updated_at, id) < (?13, ?14, ?12)
ORDER BY urgent DESC, updated_at DESC, id DESC;

-- name: select-sessions-by-id
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum
FROM sessions WHERE id IN (SELECT value FROM json_each(?));

-- name: select-agents-of
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum
FROM (SELECT * FROM sessions WHERE parent IN (SELECT value FROM json_each(?)) ORDER BY updated_at DESC LIMIT 2000) ORDER BY id;

-- name: select-working-sessions
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum
FROM sessions WHERE folder IN (SELECT value FROM json_each(?)) AND state = 'processing';

-- name: select-unsettled-sessions
SELECT id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum
FROM sessions WHERE folder = ? AND (state IN ('processing', 'awaiting_input') OR settings LIKE '%"bypassPermissions"%')
ORDER BY updated_at DESC, id DESC;

-- name: salvage-session
INSERT INTO sessions (id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context,
  cost, cost_unknown, lines_added, lines_removed, branch, helper, parent, details, checksum)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
ON CONFLICT (id) DO UPDATE SET folder = ?2, title = ?3, state = ?4, settings = ?5, created_at = ?6, updated_at = ?7, seq = ?8,
  last_end = ?9, usage = ?10, context = ?11, cost = ?12, cost_unknown = ?13, lines_added = ?14, lines_removed = ?15,
  branch = ?16, helper = ?17, parent = ?18, details = ?19, checksum = ?20;

-- name: salvage-placeholder
INSERT OR IGNORE INTO sessions (id, folder, title, state, settings, created_at, updated_at, seq, last_end, usage, context, checksum)
VALUES (?, '', '', '', '', 0, 0, 0, '', '', 0, 1);

-- name: salvage-event
INSERT OR IGNORE INTO events (session, seq, turn, kind, at, body, blob, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: salvage-ledger
INSERT OR IGNORE INTO ledger (session, seq, folder, turn, purpose, provider, model, input, cache_read, cache_write, output, reasoning, cost, at, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: salvage-queued
INSERT OR IGNORE INTO queue (id, session, position, verb, text, details) VALUES (?, ?, ?, ?, ?, ?);

-- name: salvage-setting
INSERT OR IGNORE INTO settings (key, value, checksum) VALUES (?, ?, ?);

-- name: salvage-hook-record
INSERT OR IGNORE INTO hook_log (id, session, at, hook, point, tool, call, outcome, row, size, checksum, body, body_checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: count-events
SELECT count(*), coalesce(max(seq), 0) FROM events WHERE session = ?;

-- name: select-session-ids
SELECT id FROM sessions ORDER BY id;

-- name: select-folder-of-requests
SELECT folder FROM ledger WHERE session = ? LIMIT 1;

-- name: select-main-folder
SELECT folder FROM sessions WHERE folder <> '' GROUP BY folder ORDER BY count(*) DESC LIMIT 1;

-- name: select-folders
SELECT folder, sum(parent IS NULL), max(updated_at) FROM sessions GROUP BY folder ORDER BY max(updated_at) DESC LIMIT ?;

-- name: select-ledger-of-session
SELECT session, seq, folder, turn, purpose, provider, model, input, cache_read, cache_write, output, reasoning, cost, at FROM ledger
WHERE session = ?;
