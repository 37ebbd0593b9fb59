-- D201: no such table.

-- case: a name with a slip
-- outcome: refused D201 at 1:22
SELECT COUNT(*) FROM patient;

-- case: a table that the policy does not mention
-- outcome: refused D201 at 1:23
SELECT SUM(wage) FROM staff;

-- case: a schema that is not there
-- outcome: refused D201 at 1:22
SELECT COUNT(*) FROM clinic.patients;

-- case: a table without its schema
-- outcome: refused D201 at 1:22
SELECT COUNT(*) FROM orders;

-- case: the list of columns
-- outcome: refused D201 at 1:25
SELECT column_name FROM information_schema.columns;

-- case: the list of tables
-- outcome: refused D201 at 1:15
SELECT * FROM sqlite_master;

-- case: a file in quotes
-- outcome: refused D201 at 1:22
SELECT COUNT(*) FROM 'patients.parquet';

-- case: a file in double quotes
-- outcome: refused D201 at 1:22
SELECT COUNT(*) FROM "/etc/passwd.csv";

-- case: a name of WITH outside its scope
-- outcome: refused D201 at 1:99
SELECT COUNT(*) FROM (WITH inner_name AS (SELECT * FROM patients) SELECT * FROM inner_name) AS x, inner_name;

-- case: a name of WITH before it is defined
-- outcome: refused D201 at 1:26
WITH a AS (SELECT * FROM b), b AS (SELECT * FROM patients) SELECT COUNT(*) FROM a;

-- case: another database
-- outcome: refused D201 at 1:22
-- instead: SELECT COUNT(*) FROM main.patients
SELECT COUNT(*) FROM other.main.patients;

-- case: the star of a table that is not in FROM
-- outcome: refused D201 at 1:30
-- instead: SELECT COUNT(*) FROM (SELECT p.* FROM patients p)
SELECT COUNT(*) FROM (SELECT q.* FROM patients p);

-- case: a view misspelt
-- outcome: refused D201 at 1:22
SELECT COUNT(*) FROM adlts;

-- case: a view in a schema that has none
-- outcome: refused D201 at 1:22
SELECT COUNT(*) FROM sales.adults;

-- case: no table has a row for each unit
-- policy: by_column.toml
-- outcome: refused D201 at 1:22
-- instead: SELECT COUNT(DISTINCT patient_id) FROM visits
SELECT COUNT(*) FROM patients;
