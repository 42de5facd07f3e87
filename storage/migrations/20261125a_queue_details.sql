-- What else is known of a message that waits: what was typed, and the skill that begins
-- with it, as JSON. Most messages have none.
ALTER TABLE queue ADD COLUMN details TEXT;
