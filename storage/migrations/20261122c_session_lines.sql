-- What a session changed, and where: the sum of the lines that its tools added and
-- removed, and the git branch that its model was told last. Older sessions get
-- them from their events; events of more than 256 KB are in files and are left out.
ALTER TABLE sessions ADD COLUMN lines_added INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN lines_removed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN branch TEXT NOT NULL DEFAULT '';

UPDATE sessions SET lines_added = c.added, lines_removed = c.removed
FROM (
  SELECT e.session, sum(coalesce(change.value ->> '$.added', 0)) AS added, sum(coalesce(change.value ->> '$.removed', 0)) AS removed
  FROM (
    SELECT session, iif(json_valid(CAST(body AS TEXT)), CAST(body AS TEXT), '{}') AS body
    FROM events WHERE kind = 'tool_call_end' AND blob IS NULL
  ) e, json_each(e.body, '$.details.changes') AS change
  WHERE e.body ->> '$.outcome' <> 'denied' AND change.type = 'object'
  GROUP BY e.session
) c WHERE c.session = sessions.id;

UPDATE sessions SET branch = b.branch
FROM (
  SELECT session, told.value AS branch, max(seq)
  FROM (
    SELECT session, seq, iif(json_valid(CAST(body AS TEXT)), CAST(body AS TEXT), '{}') AS body
    FROM events WHERE kind IN ('briefing', 'briefing_update') AND blob IS NULL
  ) e, json_each(e.body, '$.told') AS told
  WHERE told.key = 'branch' AND told.type = 'text'
  GROUP BY session
) b WHERE b.session = sessions.id;

-- Checksums cover the new columns. NULL marks an older row, as before.
UPDATE sessions SET checksum = NULL;
