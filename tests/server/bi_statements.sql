-- What clients that were not run here ask, in the shape of their public source, shortened; the rows are those of the
-- tables in tests/server/client_statements.py.

-- Npgsql 8 (Power BI): the types it loads when it connects
-- columns: nspname 19, oid 26, typname 19, typtype 18, elemtypoid 26
-- row: pg_catalog|25|text|b|\N
-- row: pg_catalog|1009|_text|a|25
-- row: pg_catalog|3904|int4range|r|23
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.elemtypoid
FROM (
    SELECT typ.oid, typnamespace, typname, relkind,
        CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
        CASE WHEN proc.proname = 'array_recv' THEN typ.typelem WHEN typ.typtype = 'r' THEN rngsubtype
             WHEN typ.typtype = 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid)
             WHEN typ.typtype = 'd' THEN typ.typbasetype END AS elemtypoid
    FROM pg_type AS typ
    LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
    LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
    LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)
) AS t
JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
WHERE typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind = 'c') OR typtype = 'a'
ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 WHEN typtype = 'r' THEN 1 ELSE 5 END;

-- Npgsql 8: enums and composite types
-- columns: oid 26, enumlabel 19
-- rows: 0
SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid=enumtypid ORDER BY oid, enumsortorder;

-- Power BI: its list of tables
-- columns: table_schema 19, table_name 19, table_type 1043
-- rows: 5
-- row: public|patients|BASE TABLE
-- row: public|samples|BASE TABLE
-- row: public|visits|BASE TABLE
-- row: public|wards|BASE TABLE
-- row: public|seniors|VIEW
select TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE from INFORMATION_SCHEMA.tables
where TABLE_SCHEMA not in ('information_schema', 'pg_catalog') order by TABLE_SCHEMA, TABLE_NAME;

-- Power BI: the columns of a table
-- columns: column_name 19, ordinal_position 23, is_nullable 1043, data_type 1043
-- rows: 3
-- row: ward|1|NO|text
-- row: building|2|YES|text
-- row: beds|3|YES|integer
select COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, case when (data_type like '%unsigned%') then DATA_TYPE || ' unsigned'
else DATA_TYPE end as DATA_TYPE from INFORMATION_SCHEMA.COLUMNS where TABLE_SCHEMA = 'public' and TABLE_NAME = 'wards'
order by TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION;

-- Power BI: keys that refer to a table
-- columns: pk_column_name 19, fk_table_schema 19, ordinal 23
-- rows: 0
select pkcol.COLUMN_NAME as PK_COLUMN_NAME, fkcol.TABLE_SCHEMA AS FK_TABLE_SCHEMA, fkcol.ORDINAL_POSITION as ORDINAL
from (select distinct constraint_catalog, constraint_schema, unique_constraint_schema, constraint_name,
unique_constraint_name from INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS) rc
inner join INFORMATION_SCHEMA.KEY_COLUMN_USAGE fkcol on rc.CONSTRAINT_NAME = fkcol.CONSTRAINT_NAME
inner join INFORMATION_SCHEMA.KEY_COLUMN_USAGE pkcol on rc.UNIQUE_CONSTRAINT_NAME = pkcol.CONSTRAINT_NAME
where fkcol.TABLE_NAME = 'visits' order by 1, 2;

-- DBeaver 24: schemas
-- columns: oid 26, oid 26, nspname 19, nspowner 26, nspacl 1009, description 25
-- rows: 3
-- row: 11|11|pg_catalog|10|\N|\N
-- row: 2200|2200|public|10|\N|\N
-- row: 13000|13000|information_schema|10|\N|\N
SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass
ORDER BY nspname;

-- DBeaver 24: tables of a schema
-- given: ["2200"]
-- columns: relname 19, relkind 18, description 25, partition_expr 25, partition_key 25
-- rows: 5
-- row: patients|r|\N|\N|\N
-- row: visits|r|\N|\N|\N
-- row: wards|r|\N|\N|\N
-- row: samples|r|\N|\N|\N
-- row: seniors|v|\N|\N|\N
SELECT c.relname,c.relkind,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,
pg_catalog.pg_get_partkeydef(c.oid) as partition_key FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass
WHERE c.relnamespace=$1 AND c.relkind not in ('i','I','c');

-- DBeaver 24: columns of a table
-- given: ["16386"]
-- columns: relname 19, attname 19, atttypid 26, attnotnull 16, def_value 25, description 25, objid 26
-- rows: 3
-- row: wards|ward|25|t|\N|\N|\N
-- row: wards|building|25|f|\N|\N|\N
-- row: wards|beds|23|f|\N|\N|\N
SELECT c.relname,a.attname,a.atttypid,a.attnotnull,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,
dsc.description,dep.objid FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep on dep.refobjid = a.attrelid AND dep.deptype = 'i' and dep.refobjsubid = a.attnum
and dep.classid = dep.refclassid WHERE NOT a.attisdropped AND c.oid=$1 ORDER BY a.attnum;

-- DBeaver 24: types
-- columns: oid 26, typname 19, relkind 18, base_type_name 25, description 25
-- rows: 185
-- row: 23|int4|\N|\N|\N
SELECT t.oid,t.typname,c.relkind,format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description
FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid=t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid=t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid=d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C');

-- DBeaver 24: the session
-- columns: current_schema 19, session_user 19
-- rows: 1
-- row: public|ana
SELECT current_schema(),session_user;

-- Metabase 0.50: fields
-- given: ["public", "samples"]
-- columns: name 19, database-type 25, database-position 23, table-schema 19, table-name 19, pk? 16, field-comment 25
-- row: level|numeric|4|public|samples|f|\N
-- row: stored|timestamptz|2|public|samples|f|\N
SELECT "c"."column_name" AS "name",
CASE WHEN "c"."udt_schema" IN ('public', 'pg_catalog') THEN FORMAT('%s', "c"."udt_name")
     ELSE FORMAT('"%s"."%s"', "c"."udt_schema", "c"."udt_name") END AS "database-type",
"c"."ordinal_position" - 1 AS "database-position", "c"."table_schema" AS "table-schema", "c"."table_name" AS "table-name",
"pk"."column_name" IS NOT NULL AS "pk?",
COL_DESCRIPTION(CAST(CAST(FORMAT('%I.%I', CAST("c"."table_schema" AS TEXT), CAST("c"."table_name" AS TEXT)) AS REGCLASS)
AS OID), "c"."ordinal_position") AS "field-comment"
FROM "information_schema"."columns" AS "c"
LEFT JOIN (SELECT "tc"."table_schema", "tc"."table_name", "kc"."column_name"
FROM "information_schema"."table_constraints" AS "tc" INNER JOIN "information_schema"."key_column_usage" AS "kc"
ON ("tc"."constraint_name" = "kc"."constraint_name") AND ("tc"."table_schema" = "kc"."table_schema")
WHERE "tc"."constraint_type" = 'PRIMARY KEY') AS "pk"
ON ("c"."table_schema" = "pk"."table_schema") AND ("c"."table_name" = "pk"."table_name")
AND ("c"."column_name" = "pk"."column_name")
WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND "c"."table_schema" IN ($1)
AND "c"."table_name" IN ($2) ORDER BY "table-schema" ASC, "table-name" ASC, "database-position" ASC;

-- Metabase 0.50: tables that may be read
-- columns: schema 19, name 19, type 25, select 16
-- rows: 5
-- row: public|patients|TABLE|t
SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE'
WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS type,
has_any_column_privilege(current_user, '"' || replace(n.nspname, '"', '""') || '"' || '.' || '"' || c.relname || '"', 'select')
as select FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON c.relnamespace = n.oid
WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND n.nspname NOT IN ('information_schema', 'pg_catalog')
AND n.nspname !~ '^pg_' ORDER BY type, schema, name;

-- Grafana 11: tables for its editor
-- columns: table 25
-- rows: 5
-- row: patients
-- row: samples
-- row: seniors
-- row: visits
-- row: wards
SELECT CASE WHEN quote_ident(table_schema) IN (
  SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
  FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1),
    array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
  string_to_array(current_setting('search_path'),',') s)
THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache') ORDER BY 1;

-- Grafana 11: columns and their types
-- columns: column 25, type 1043
-- rows: 3
-- row: ward|text
-- row: building|text
-- row: beds|integer
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE quote_ident(table_name) = 'wards';

-- Superset 4 through SQLAlchemy: schemas
-- columns: nspname 19
-- rows: 2
-- row: information_schema
-- row: public
SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY nspname;

-- Superset 4: databases
-- columns: datname 19
-- rows: 1
-- row: clinic
SELECT datname FROM pg_database WHERE datistemplate = false;

-- Tableau 2024 through its driver: what may be listed
-- columns: nspname 19, relname 19, relkind 18
-- rows: 5
-- row: public|seniors|v
select nspname, relname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n
where relkind in ('r', 'v', 'm', 'f', 'p') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1')
and n.oid = relnamespace order by nspname, relname;

-- Looker: its test of a connection
-- columns: version_number 25, pid 23
-- rows: 1
SELECT current_setting('server_version') AS version_number, pg_backend_pid() AS pid;

-- RPostgreSQL 0.7: dbListTables
-- columns: tablename 19
-- rows: 4
-- row: patients
-- row: visits
-- row: wards
-- row: samples
select tablename from pg_tables where schemaname !='information_schema' and schemaname !='pg_catalog';

-- RPostgreSQL 0.7: dbListFields
-- columns: attname 19
-- rows: 3
-- row: ward
-- row: building
-- row: beds
select a.attname from pg_attribute a, pg_class c, pg_tables t, pg_namespace nsp where a.attrelid = c.oid
and c.relname = tablename and c.relnamespace = nsp.oid and a.attnum > 0 and nspname = current_schema()
and schemaname = nspname and tablename = 'wards';

-- RPostgres 1.4 (dbplyr): dbListTables
-- columns: table_name 19
-- rows: 5
-- row: patients
-- row: samples
-- row: seniors
-- row: visits
-- row: wards
SELECT table_name FROM INFORMATION_SCHEMA.tables
WHERE (table_schema = ANY(current_schemas(true))) AND (table_type = 'BASE TABLE' OR table_type = 'VIEW') ORDER BY table_name;

-- RPostgres 1.4: names of types
-- columns: oid 26, typname 19
-- rows: 185
-- row: 16|bool
SELECT oid, typname FROM pg_type;

-- pgjdbc 42.7: the schemas of a catalogue, with the path of the session
-- columns: table_schem 19, table_catalog 19
-- rows: 3
-- row: public|clinic
SELECT nspname AS TABLE_SCHEM, current_database() AS TABLE_CATALOG FROM pg_catalog.pg_namespace
WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR nspname = (pg_catalog.current_schemas(true))[1])
AND (nspname !~ '^pg_toast_temp_' OR nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_'))
ORDER BY TABLE_SCHEM;

-- asyncpg 0.32: what it resets between users of a pool
-- columns: pg_advisory_unlock_all 25
-- rows: 1
-- row: 
SELECT pg_advisory_unlock_all();

-- asyncpg 0.32: a type of its cache
-- given: [null]
-- columns: oid 26, ns 19, name 19, kind 18, elemtype 26, elemdelim 18
-- rows: 0
SELECT t.oid AS oid, ns.nspname AS ns, t.typname AS name, t.typtype AS kind, t.typelem AS elemtype,
elem_t.typdelim AS elemdelim FROM pg_catalog.pg_type AS t INNER JOIN pg_catalog.pg_namespace ns ON (ns.oid = t.typnamespace)
LEFT JOIN pg_type elem_t ON (t.typlen = -1 AND t.typelem != 0 AND t.typelem = elem_t.oid) WHERE t.oid = any($1::oid[]);

-- pg_dump-like tools: a path for names
-- columns: set_config 25
-- rows: 1
-- row: 
SELECT pg_catalog.set_config('search_path', '', false);

-- health checks
-- columns: ?column? 23
-- rows: 1
-- row: 1
SELECT 1;
