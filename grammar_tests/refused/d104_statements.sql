-- D104: only queries are answered.

-- case: rows put in
-- outcome: refused D104 at 1:1
INSERT INTO wards VALUES ('E', 4, 10);

-- case: rows changed
-- outcome: refused D104 at 1:1
UPDATE patients SET age = 30 WHERE patient_id = 3;

-- case: rows deleted
-- outcome: refused D104 at 1:1
DELETE FROM visits;

-- case: a table made
-- outcome: refused D104 at 1:1
CREATE TABLE mine AS SELECT * FROM patients;

-- case: a macro that hides a function
-- outcome: refused D104 at 1:1
CREATE MACRO greatest(a, b) AS a;

-- case: a temporary table that hides a private one
-- outcome: refused D104 at 1:1
CREATE TEMP TABLE patients (patient_id INTEGER, age INTEGER);

-- case: a table dropped
-- outcome: refused D104 at 1:1
DROP TABLE wards;

-- case: a column added
-- outcome: refused D104 at 1:1
ALTER TABLE patients ADD COLUMN spare INTEGER;

-- case: a setting
-- outcome: refused D104 at 1:1
SET enable_external_access = true;

-- case: a session variable
-- outcome: refused D104 at 1:1
SET VARIABLE seed = 42;

-- case: a setting undone
-- outcome: refused D104 at 1:1
RESET threads;

-- case: a pragma
-- outcome: refused D104 at 1:1
PRAGMA table_info('patients');

-- case: rows to a file
-- outcome: refused D104 at 1:1
COPY (SELECT * FROM patients) TO 'patients.csv';

-- case: another database
-- outcome: refused D104 at 1:1
ATTACH 'other.duckdb' AS other;

-- case: an extension installed
-- outcome: refused D104 at 1:1
INSTALL httpfs;

-- case: an extension loaded
-- outcome: refused D104 at 1:1
LOAD httpfs;

-- case: a procedure
-- outcome: refused D104 at 1:1
CALL pragma_version();

-- case: a secret
-- outcome: refused D104 at 1:1
CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b');

-- case: the engine's own plan
-- outcome: refused D104 at 1:9
-- instead: EXPLAIN SELECT COUNT(*) FROM patients
EXPLAIN ANALYZE SELECT COUNT(*) FROM patients;

-- case: a table described
-- outcome: refused D104 at 1:1
DESCRIBE patients;

-- case: a table summarised
-- outcome: refused D104 at 1:1
SUMMARIZE patients;

-- case: the list of tables
-- outcome: refused D104 at 1:1
-- instead: SELECT * FROM patients LIMIT 0
SHOW TABLES;

-- case: a transaction
-- outcome: refused D104 at 1:1
BEGIN TRANSACTION;

-- case: a prepared statement
-- outcome: refused D104 at 1:1
PREPARE q AS SELECT COUNT(*) FROM patients;

-- case: a checkpoint
-- outcome: refused D104 at 1:1
CHECKPOINT;

-- case: another schema
-- outcome: refused D104 at 1:1
USE sales;

-- case: statistics gathered
-- outcome: refused D104 at 1:1
ANALYZE patients;

-- case: space given back
-- outcome: refused D104 at 1:1
VACUUM;

-- case: rows merged
-- outcome: refused D104 at 1:1
MERGE INTO wards USING places ON wards.floor = places.place_id WHEN MATCHED THEN DELETE;
