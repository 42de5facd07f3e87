-- seq is the place of the request in the log of its session. An older row gets
-- it from the log. A request of more than 256 KB is in a file; the session's
-- newest such request is the one that waits, because a session asks one at a time.
ALTER TABLE approvals ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;

UPDATE approvals SET seq = coalesce(
  (SELECT max(e.seq) FROM events e WHERE e.session = approvals.session AND e.kind = 'approval_request' AND e.blob IS NULL
    AND iif(json_valid(CAST(e.body AS TEXT)), CAST(e.body AS TEXT), '{}') ->> '$.id' = approvals.id),
  (SELECT max(e.seq) FROM events e WHERE e.session = approvals.session AND e.kind = 'approval_request' AND e.blob IS NOT NULL),
  0);
