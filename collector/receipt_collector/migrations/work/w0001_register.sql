-- Schema `work`: the operator's register. The collector ends items; the operator owns all else.
CREATE TABLE work.leases (
  cluster text NOT NULL,
  namespace text NOT NULL,
  holder text NOT NULL,
  epoch bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  approval_pending boolean NOT NULL DEFAULT false,   -- the approveFirst mark
  cache_seen boolean NOT NULL DEFAULT false,         -- the worker's mark was seen in the cache root
  first_taken_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (cluster, namespace)
);

CREATE TABLE work.requests (
  request_id uuid PRIMARY KEY,
  cluster text NOT NULL,
  namespace text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('ReceiptReprocess', 'CacheRebuild')),
  name text NOT NULL,
  run_id text NOT NULL,
  object_uid text NOT NULL,      -- of the object that asked first; another uid later means it was re-created
  wish jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('planning', 'open', 'finished')),
  plan_cursor text,              -- last reference the plan committed; null before the first
  total integer,                 -- set when the plan is whole
  knobs jsonb NOT NULL DEFAULT '{}',   -- mutable fields as last seen: suspend, priority, maxInFlight, ...
  suspended boolean NOT NULL DEFAULT false,
  parked boolean NOT NULL DEFAULT false,
  ending text CHECK (ending IN ('cancelled', 'deadline', 'threshold')),  -- publishing stopped for good
  ending_since timestamptz,
  active_seconds double precision NOT NULL DEFAULT 0,  -- neither suspended nor parked, up to active_since
  active_since timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  accepted_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  result text,
  done integer, failed integer, skipped integer,  -- frozen at the finish
  summary jsonb,                                  -- frozen at the finish: failure classes and samples
  CHECK ((state = 'finished') = (finished_at IS NOT NULL)),
  CHECK ((state = 'finished') = (result IS NOT NULL))
);
CREATE INDEX requests_open ON work.requests (cluster, namespace) WHERE state <> 'finished';
CREATE INDEX requests_by_object ON work.requests (cluster, namespace, kind, name);

CREATE TABLE work.items (
  request_id uuid NOT NULL REFERENCES work.requests,
  reference text NOT NULL,
  source_sha256 text,
  state text NOT NULL CHECK (state IN ('planned', 'publishing', 'published', 'done', 'failed', 'skipped')),
  reason text,                    -- Reason value, of failed and skipped items
  publications integer NOT NULL DEFAULT 0,   -- confirmed sends other than probes
  published_at timestamptz,       -- of the last send that counts; committed before the send
  probed_at timestamptz,
  ended_at timestamptz,
  ended_by text CHECK (ended_by IN ('collector', 'operator')),
  late boolean NOT NULL DEFAULT false,       -- a result came after the request had finished
  PRIMARY KEY (request_id, reference)
);
CREATE INDEX items_waiting ON work.items (request_id, state, published_at)
  WHERE state IN ('planned', 'publishing', 'published');
-- Queues are first in, first out: the latest send among items that were answered tells what must have been answered before.
CREATE INDEX items_evidence ON work.items (greatest(published_at, probed_at)) WHERE ended_by = 'collector';
