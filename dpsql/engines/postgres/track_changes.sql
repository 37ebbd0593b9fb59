-- Let dpsql know which version of the data a table holds: run once by the owner of the database, then
--
--     SELECT dpsql.track('visits');          for each table of the policy, private or public
--     GRANT USAGE ON SCHEMA dpsql TO reader;
--     GRANT SELECT ON dpsql.versions TO reader;
--
-- Each statement that writes to a tracked table, or might, gives the table a new version, in the same
-- transaction. Transactions that write to one table then wait for each other.

CREATE SCHEMA dpsql;

CREATE TABLE dpsql.versions (relation oid PRIMARY KEY, version uuid NOT NULL);

CREATE FUNCTION dpsql.changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
AS $$
BEGIN
    INSERT INTO dpsql.versions AS held (relation, version) VALUES (TG_RELID, gen_random_uuid())
    ON CONFLICT (relation) DO UPDATE SET version = gen_random_uuid();
    RETURN NULL;
END
$$;

CREATE FUNCTION dpsql.track(tracked regclass) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog
AS $$
BEGIN
    EXECUTE format(
        'CREATE TRIGGER dpsql_changed BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s '
        'FOR EACH STATEMENT EXECUTE FUNCTION dpsql.changed()', tracked::text);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER dpsql_changed', tracked::text);
    INSERT INTO dpsql.versions AS held (relation, version) VALUES (tracked, gen_random_uuid())
    ON CONFLICT (relation) DO UPDATE SET version = gen_random_uuid();
END
$$;
