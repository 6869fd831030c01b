-- Event ids the collector has settled. No foreign keys: a row outlives what it speaks of.

CREATE TABLE work.inbox (
  event_id text PRIMARY KEY,
  event_type text NOT NULL,
  run_uuid uuid NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('stored', 'refused', 'no_evidence')),
  recorded_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX inbox_run ON work.inbox (run_uuid);
CREATE INDEX inbox_recorded ON work.inbox (recorded_at);
