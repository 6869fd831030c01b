-- A request that came to an empty register behind the first few waits for a person.

ALTER TABLE work.requests ADD COLUMN awaiting_approval boolean NOT NULL DEFAULT false;
