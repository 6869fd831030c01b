-- Every field of a receipt with its evidence. Rows that are there keep what they hold: columns are
-- added, and are null until the receipt is read again.

ALTER TABLE budget.receipt_evidence
  ADD COLUMN result_schema_version integer NOT NULL DEFAULT 1,  -- of the event that came last
  ADD COLUMN transaction_time time,   -- as printed, known also when no date is
  ADD COLUMN currency text CHECK (currency ~ '^[A-Z]{3}$'),
  ADD COLUMN subtotal budget.amount,
  ADD COLUMN total_tax budget.amount,
  ADD COLUMN tip budget.amount,
  ADD COLUMN rounding budget.amount,
  ADD COLUMN discount_total budget.amount,
  ADD COLUMN change budget.amount,
  ADD COLUMN merchant_address text,
  ADD COLUMN merchant_phone_number text,
  ADD COLUMN merchant_tax_id text,
  ADD COLUMN receipt_type text,
  ADD COLUMN country_region text,
  ADD COLUMN fields jsonb NOT NULL DEFAULT '{}',  -- by name: value, print, place, proof, candidates
  ADD COLUMN lines_left_out integer NOT NULL DEFAULT 0,  -- too many for an event; in the artifact
  ADD COLUMN items_left_out integer NOT NULL DEFAULT 0;

ALTER TABLE budget.expenses ADD COLUMN currency text CHECK (currency ~ '^[A-Z]{3}$');

CREATE TABLE budget.receipt_items (
  evidence_id bigint NOT NULL REFERENCES budget.receipt_evidence ON DELETE CASCADE,
  position integer NOT NULL,          -- order on the receipt, from 1
  description text NOT NULL,
  quantity numeric,
  quantity_unit text,
  price budget.amount,                -- of one unit
  total_price budget.amount,
  product_code text,
  tax_code text,
  raw_text text,
  page_number integer,
  x integer,
  y integer,
  width integer,
  height integer,
  pass_id integer,
  confidence numeric(5,4) CHECK (confidence BETWEEN 0 AND 1),
  evidence text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (evidence_id, position)
);

CREATE TABLE budget.receipt_tax_details (
  evidence_id bigint NOT NULL REFERENCES budget.receipt_evidence ON DELETE CASCADE,
  position integer NOT NULL,
  rate numeric,                       -- per cent
  net_amount budget.amount,
  amount budget.amount,
  description text,
  raw_text text,
  page_number integer,
  x integer,
  y integer,
  width integer,
  height integer,
  pass_id integer,
  confidence numeric(5,4) CHECK (confidence BETWEEN 0 AND 1),
  evidence text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (evidence_id, position)
);

CREATE TABLE budget.receipt_payments (
  evidence_id bigint NOT NULL REFERENCES budget.receipt_evidence ON DELETE CASCADE,
  position integer NOT NULL,
  method text,
  amount budget.amount,
  card_network text,
  card_last4 text CHECK (card_last4 ~ '^[0-9]{4}$'),
  raw_text text,
  page_number integer,
  x integer,
  y integer,
  width integer,
  height integer,
  pass_id integer,
  confidence numeric(5,4) CHECK (confidence BETWEEN 0 AND 1),
  evidence text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (evidence_id, position)
);

-- A run may be told in any schema; only passes have a number.
ALTER TABLE budget.ocr_result_events DROP CONSTRAINT ocr_result_events_check;
ALTER TABLE budget.ocr_result_events ADD CONSTRAINT ocr_result_events_check
  CHECK (starts_with(event_type, 'ocr.run-completed.') = (pass_id IS NULL));
