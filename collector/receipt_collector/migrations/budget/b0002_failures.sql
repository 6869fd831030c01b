-- Every message that ended in a dead queue, as one row. Rows stay until someone purges them.
-- A row holds no receipt text: a reason, its fixed sentence, and identities.

CREATE TABLE budget.receipt_failures (
  failure_id uuid PRIMARY KEY,        -- derived from message id and reference, else from the body
  side text NOT NULL CHECK (side IN ('receipts.v1', 'ocr.results.v1')),
  message_type text,
  message_id text,
  source_reference text,
  source_sha256 text,
  request_id uuid,
  run_uuid uuid,
  pass_id integer,
  attempts integer CHECK (attempts > 0),
  reason text NOT NULL,
  sentence text NOT NULL,
  body bytea CHECK (octet_length(body) <= 8192),  -- of work messages only: what a replay sends
  body_sha256 text NOT NULL,
  body_bytes integer NOT NULL,
  first_failed_at timestamptz NOT NULL DEFAULT now(),
  last_failed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX receipt_failures_last ON budget.receipt_failures (last_failed_at);
CREATE INDEX receipt_failures_request ON budget.receipt_failures (request_id);
CREATE INDEX receipt_failures_source ON budget.receipt_failures (source_sha256);
