-- NULL marks an older row, which is accepted.
ALTER TABLE ledger ADD COLUMN checksum INTEGER;
