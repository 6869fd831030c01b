-- How many items of each unfinished request stand in which state: the sum of its rows. Whatever
-- changes items adds one row a statement and request, in its own transaction; nothing is updated in
-- place, so nobody waits for another's. The operator replaces many rows by one, counted anew.
CREATE TABLE work.tallies (
  request_id uuid NOT NULL,
  planned integer NOT NULL,
  publishing integer NOT NULL,
  published integer NOT NULL,
  done integer NOT NULL,
  failed integer NOT NULL,
  skipped integer NOT NULL,
  confirmed integer NOT NULL,     -- of all, those whose work the broker confirmed at least once
  publications integer NOT NULL,
  last_ended_at timestamptz
);
CREATE INDEX tallies_request ON work.tallies (request_id);

-- Which receipts of a request failed is asked each time that one more did.
CREATE INDEX items_failed ON work.items (request_id, ended_at, reference) INCLUDE (reason)
  WHERE state = 'failed';

CREATE FUNCTION work.tally_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO work.tallies
  SELECT request_id,
         count(*) FILTER (WHERE state = 'planned'),
         count(*) FILTER (WHERE state = 'publishing'),
         count(*) FILTER (WHERE state = 'published'),
         count(*) FILTER (WHERE state = 'done'),
         count(*) FILTER (WHERE state = 'failed'),
         count(*) FILTER (WHERE state = 'skipped'),
         count(*) FILTER (WHERE publications > 0),
         sum(publications),
         max(ended_at)
    FROM became GROUP BY request_id;
  RETURN NULL;
END $$;

CREATE FUNCTION work.tally_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO work.tallies
  SELECT request_id, planned, publishing, published, done, failed, skipped, confirmed,
         publications, last_ended_at
    FROM (
      SELECT request_id,
             coalesce(sum(sign) FILTER (WHERE state = 'planned'), 0) AS planned,
             coalesce(sum(sign) FILTER (WHERE state = 'publishing'), 0) AS publishing,
             coalesce(sum(sign) FILTER (WHERE state = 'published'), 0) AS published,
             coalesce(sum(sign) FILTER (WHERE state = 'done'), 0) AS done,
             coalesce(sum(sign) FILTER (WHERE state = 'failed'), 0) AS failed,
             coalesce(sum(sign) FILTER (WHERE state = 'skipped'), 0) AS skipped,
             coalesce(sum(sign) FILTER (WHERE publications > 0), 0) AS confirmed,
             sum(sign * publications) AS publications,
             max(ended_at) FILTER (WHERE sign = 1) AS last_ended_at,
             max(ended_at) FILTER (WHERE sign = -1) AS last_ended_before
        FROM (
          SELECT 1 AS sign, request_id, state, publications, ended_at FROM became
          UNION ALL
          SELECT -1, request_id, state, publications, ended_at FROM was) AS both_sides
       GROUP BY request_id) AS change
   WHERE (planned, publishing, published, done, failed, skipped, confirmed, publications)
         <> (0, 0, 0, 0, 0, 0, 0, 0)  -- a mark, as of a late result, counts nothing
      OR last_ended_at IS DISTINCT FROM last_ended_before;
  RETURN NULL;
END $$;

-- What is removed with a finished request is nowhere counted any more.
CREATE FUNCTION work.tally_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO work.tallies
  SELECT request_id,
         -count(*) FILTER (WHERE was.state = 'planned'),
         -count(*) FILTER (WHERE was.state = 'publishing'),
         -count(*) FILTER (WHERE was.state = 'published'),
         -count(*) FILTER (WHERE was.state = 'done'),
         -count(*) FILTER (WHERE was.state = 'failed'),
         -count(*) FILTER (WHERE was.state = 'skipped'),
         -count(*) FILTER (WHERE was.publications > 0),
         -sum(was.publications)
    FROM was JOIN work.requests USING (request_id)
   WHERE work.requests.state <> 'finished'
   GROUP BY request_id;
  RETURN NULL;
END $$;

CREATE TRIGGER tally_added AFTER INSERT ON work.items
  REFERENCING NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION work.tally_added();
CREATE TRIGGER tally_changed AFTER UPDATE ON work.items
  REFERENCING OLD TABLE AS was NEW TABLE AS became
  FOR EACH STATEMENT EXECUTE FUNCTION work.tally_changed();
CREATE TRIGGER tally_removed AFTER DELETE ON work.items
  REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION work.tally_removed();

INSERT INTO work.tallies
SELECT request_id,
       count(*) FILTER (WHERE item.state = 'planned'),
       count(*) FILTER (WHERE item.state = 'publishing'),
       count(*) FILTER (WHERE item.state = 'published'),
       count(*) FILTER (WHERE item.state = 'done'),
       count(*) FILTER (WHERE item.state = 'failed'),
       count(*) FILTER (WHERE item.state = 'skipped'),
       count(*) FILTER (WHERE item.publications > 0),
       sum(item.publications),
       max(item.ended_at)
  FROM work.items AS item JOIN work.requests AS request USING (request_id)
 WHERE request.state <> 'finished'
 GROUP BY request_id;
