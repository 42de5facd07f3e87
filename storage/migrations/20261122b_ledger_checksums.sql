-- NULL is a row from before, which is taken as it is.
ALTER TABLE ledger ADD COLUMN checksum INTEGER;
