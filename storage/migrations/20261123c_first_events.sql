-- The sessions that have a log, so that they can be counted in a millisecond.
CREATE INDEX first_events ON events (session) WHERE seq = 1;
