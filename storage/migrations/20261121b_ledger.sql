-- The tokens and the cost of every request to a model. A row outlives its
-- session, because the money stays spent. Token counts are NULL if the provider
-- reported none. cost is in pico-dollars, priced when the request was made; NULL
-- is unknown.
CREATE TABLE ledger (
  session     TEXT NOT NULL,
  seq         INTEGER NOT NULL, -- of the event that it comes from
  folder      TEXT NOT NULL,
  turn        INTEGER NOT NULL,
  purpose     TEXT NOT NULL, -- turn, compaction, title, subagent, web_fetch
  provider    TEXT NOT NULL,
  model       TEXT NOT NULL,
  input       INTEGER,
  cache_read  INTEGER,
  cache_write INTEGER,
  output      INTEGER,
  reasoning   INTEGER,
  cost        INTEGER,
  at          INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE INDEX ledger_by_folder ON ledger (folder, at);

-- Requests from the time before the ledger. Their costs were not recorded then
-- and are not guessed now. Answers of more than 256 KB are in files and are left
-- out.
INSERT INTO ledger
SELECT e.session, e.seq, s.folder, e.turn, 'turn', e.body ->> '$.provider', e.body ->> '$.model',
  iif(e.known, e.body ->> '$.usage.input', NULL), iif(e.known, e.body ->> '$.usage.cache_read', NULL),
  iif(e.known, e.body ->> '$.usage.cache_write', NULL), iif(e.known, e.body ->> '$.usage.output', NULL),
  iif(e.known, e.body ->> '$.usage.reasoning', NULL), NULL, e.at
FROM (
  SELECT session, seq, turn, at, CAST(body AS TEXT) AS body, CAST(body AS TEXT) ->> '$.usage.known' AS known
  FROM events WHERE kind = 'assistant_text_end' AND blob IS NULL
) e JOIN sessions s ON s.id = e.session;

ALTER TABLE sessions ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN cost_unknown INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET cost_unknown = (SELECT count(*) FROM ledger WHERE ledger.session = sessions.id);
