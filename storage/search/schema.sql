-- How far each log was read, and what filters need of its session. seq is the last
-- event that was read, and read_at its time, which shows whether the log was
-- replaced. head_at and folder are as in the list of logs.
CREATE TABLE sessions (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL UNIQUE,
  folder   TEXT NOT NULL,
  parent   TEXT NOT NULL,
  seq      INTEGER NOT NULL,
  read_at  INTEGER NOT NULL,
  head_at  INTEGER NOT NULL,
  title    TEXT NOT NULL,
  tags     TEXT NOT NULL, -- folded, a line each, with line breaks around them
  cost     INTEGER NOT NULL,
  archived INTEGER NOT NULL,
  deleted  INTEGER NOT NULL,
  model    TEXT NOT NULL, -- that of the newest answer
  copied   INTEGER NOT NULL, -- the last event that came from the session's origin
  rewound  TEXT NOT NULL -- JSON
);

-- The texts. The id begins with the time of the event, so that the newest text has
-- the highest id, in all tables.
CREATE TABLE docs (
  id      INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  part    TEXT NOT NULL,
  call    TEXT NOT NULL,
  tool    TEXT NOT NULL,
  model   TEXT NOT NULL
);
CREATE INDEX docs_by_session ON docs (session, seq);
CREATE INDEX titles ON docs (id) WHERE kind = 'title';

CREATE TABLE texts (
  id   INTEGER PRIMARY KEY,
  text TEXT NOT NULL
);

-- The sequences of three characters in the folded texts, without their places.
CREATE VIRTUAL TABLE grams USING fts5(
  text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(grams, row);

-- The files that calls read or changed. A path is folded.
CREATE TABLE paths (
  id   INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
);
CREATE TABLE touched (
  path    INTEGER NOT NULL,
  session INTEGER NOT NULL,
  doc     INTEGER NOT NULL,
  PRIMARY KEY (path, session, doc)
) WITHOUT ROWID;
CREATE INDEX touched_by_session ON touched (session);
