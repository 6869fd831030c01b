-- Which receipts were found and how their normal reading ended. May be dropped and set up again:
-- the next event of a receipt, also a repeated one, writes its status anew.

CREATE FUNCTION ingest.touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := now();
  RETURN NEW;
END $$;

CREATE TABLE ingest.receipts (
  source_sha256 text PRIMARY KEY CHECK (source_sha256 ~ '^[0-9a-f]{64}$'),
  source_reference text NOT NULL,
  first_discovered_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
-- Hash, because a reference may be longer than a B-tree entry.
CREATE INDEX receipts_reference ON ingest.receipts USING hash (source_reference);
CREATE TRIGGER receipts_touch BEFORE UPDATE ON ingest.receipts
  FOR EACH ROW EXECUTE FUNCTION ingest.touch_updated_at();

CREATE TABLE ingest.receipt_processing_status (
  source_sha256 text PRIMARY KEY REFERENCES ingest.receipts ON DELETE CASCADE,
  status text NOT NULL CHECK (status IN ('processing', 'succeeded', 'review_required', 'failed')),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  last_error text CHECK (length(last_error) <= 4000),
  first_attempted_at timestamptz,
  last_attempted_at timestamptz,
  completed_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX receipt_processing_status_recent
  ON ingest.receipt_processing_status (status, last_attempted_at DESC);
CREATE TRIGGER receipt_processing_status_touch BEFORE UPDATE ON ingest.receipt_processing_status
  FOR EACH ROW EXECUTE FUNCTION ingest.touch_updated_at();

-- Stands in `budget` for its readers and here because it goes when `ingest` is dropped.
CREATE OR REPLACE VIEW budget.receipt_processing_status AS
SELECT
  receipts.source_sha256,
  receipts.source_reference,
  receipts.first_discovered_at,
  processing.status,
  processing.attempts,
  processing.last_error,
  processing.first_attempted_at,
  processing.last_attempted_at,
  processing.completed_at,
  greatest(receipts.updated_at, processing.updated_at) AS updated_at
FROM ingest.receipts AS receipts
LEFT JOIN ingest.receipt_processing_status AS processing USING (source_sha256);
