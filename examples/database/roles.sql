-- Four roles with what each needs and nothing more. Run it once in the new database, as a superuser,
-- before the first `ledger database setup`; that one runs as receipts_owner. Passwords are set apart:
-- \password receipts_operator
--
--   receipts_owner      creates and upgrades the schemas, and removes what is old
--   receipts_operator   keeps the register of requests; reads results
--   receipts_collector  saves results and failures
--   receipts_publisher  reads how receipts stand

DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY[
    'receipts_owner', 'receipts_operator', 'receipts_collector', 'receipts_publisher'
  ] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', role);
    END IF;
  END LOOP;
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format(
    'GRANT CONNECT ON DATABASE %I TO'
    ' receipts_owner, receipts_operator, receipts_collector, receipts_publisher',
    current_database()
  );
  EXECUTE format('GRANT CREATE ON DATABASE %I TO receipts_owner', current_database());
END
$$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;

CREATE SCHEMA budget AUTHORIZATION receipts_owner;
CREATE SCHEMA ingest AUTHORIZATION receipts_owner;
CREATE SCHEMA work AUTHORIZATION receipts_owner;

GRANT USAGE ON SCHEMA budget, ingest, work TO receipts_operator, receipts_collector;
GRANT USAGE ON SCHEMA budget, ingest TO receipts_publisher;

-- The tables come later, and more of them with each upgrade.
ALTER DEFAULT PRIVILEGES FOR ROLE receipts_owner IN SCHEMA budget
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO receipts_collector;
ALTER DEFAULT PRIVILEGES FOR ROLE receipts_owner IN SCHEMA ingest, work
  GRANT SELECT, INSERT, UPDATE ON TABLES TO receipts_collector;
ALTER DEFAULT PRIVILEGES FOR ROLE receipts_owner IN SCHEMA work
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO receipts_operator;
ALTER DEFAULT PRIVILEGES FOR ROLE receipts_owner IN SCHEMA budget, ingest
  GRANT SELECT ON TABLES TO receipts_operator, receipts_publisher;
