-- Let dpsql know which version of the data a table holds: run once by the owner of the database, then
--
--     SELECT dpsql.track('visits');          for each table of the policy, private or public
--     GRANT USAGE ON SCHEMA dpsql TO reader;
--     GRANT SELECT ON dpsql.versions TO reader;
--
-- Each statement that writes to a tracked table, or might, gives the table a new version, in the same
-- transaction. Transactions that write to one table then wait for each other. What replication writes comes
-- row by row, without statements: a second trigger, which fires then alone, sees the rows.
--
-- Where an older form of this file was run, run this one, and track each table again.

CREATE SCHEMA IF NOT EXISTS dpsql;

CREATE TABLE IF NOT EXISTS dpsql.versions (relation oid PRIMARY KEY, version uuid NOT NULL);

CREATE OR REPLACE FUNCTION dpsql.changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO dpsql.versions AS held (relation, version) VALUES (TG_RELID, gen_random_uuid())
    ON CONFLICT (relation) DO UPDATE SET version = gen_random_uuid();
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION dpsql.changed_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM dpsql.versions WHERE relation = TG_RELID AND xmin = CAST(pg_current_xact_id() AS xid)
    ) THEN
        INSERT INTO dpsql.versions AS held (relation, version) VALUES (TG_RELID, gen_random_uuid())
        ON CONFLICT (relation) DO UPDATE SET version = gen_random_uuid();
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION dpsql.track(tracked regclass) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog AS $$
BEGIN
    EXECUTE format(
        'CREATE OR REPLACE TRIGGER dpsql_changed BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s '
        'FOR EACH STATEMENT EXECUTE FUNCTION dpsql.changed()', tracked::text);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER dpsql_changed', tracked::text);
    EXECUTE format(
        'CREATE OR REPLACE TRIGGER dpsql_changed_rows AFTER INSERT OR UPDATE OR DELETE ON %s '
        'FOR EACH ROW EXECUTE FUNCTION dpsql.changed_rows()', tracked::text);
    EXECUTE format('ALTER TABLE %s ENABLE REPLICA TRIGGER dpsql_changed_rows', tracked::text);
    INSERT INTO dpsql.versions AS held (relation, version) VALUES (tracked, gen_random_uuid())
    ON CONFLICT (relation) DO UPDATE SET version = gen_random_uuid();
END
$$;
