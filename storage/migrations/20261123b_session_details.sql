-- What else lists show of a session, as JSON: how many messages it has, its first
-- prompt, the user's marks, where it was forked, and what was taken back. Older
-- sessions get the first two from their events; events of more than 256 KB are in
-- files and are left out of the prompt.
ALTER TABLE sessions ADD COLUMN details TEXT NOT NULL DEFAULT '{}';

UPDATE sessions SET details = json_object(
  'messages', (SELECT count(*) FROM events e WHERE e.session = sessions.id AND e.kind IN ('user_input', 'assistant_text_end')),
  'prompt', coalesce((SELECT substr(iif(json_valid(CAST(e.body AS TEXT)), CAST(e.body AS TEXT), '{}') ->> '$.text', 1, 300)
    FROM events e WHERE e.session = sessions.id AND e.kind = 'user_input' ORDER BY e.seq LIMIT 1), '')
);

-- Checksums cover the new column. NULL marks an older row, as before.
UPDATE sessions SET checksum = NULL;
