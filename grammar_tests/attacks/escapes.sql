-- Ways out of the language, into DuckDB, its files and its settings.

-- case: statistics of a released column
-- attack: functions that look behind the tables
-- outcome: refused D251 at 1:8
SELECT stats(n) FROM (SELECT COUNT(*) AS n FROM patients);

-- case: a variable
-- attack: functions that look behind the tables
-- outcome: refused D251 at 1:8
SELECT getvariable('x') FROM wards;

-- case: the text that runs
-- attack: functions that look behind the tables
-- outcome: refused D251 at 1:8
SELECT current_query();

-- case: a nap
-- attack: functions that look behind the tables
-- outcome: refused D251 at 1:8
SELECT sleep_ms(1000);

-- case: a line in a log
-- attack: functions that look behind the tables
-- outcome: refused D251 at 1:8
SELECT write_log('x') FROM wards;

-- case: a sample of a table
-- attack: functions that look behind the tables
-- outcome: refused D251 at 1:15
SELECT * FROM duckdb_table_sample('patients');

-- case: the catalogue of the standard
-- attack: functions that look behind the tables
-- outcome: refused D201 at 1:15
SELECT * FROM information_schema.tables;

-- case: a file as a function
-- attack: files and network
-- outcome: refused D251 at 1:15
SELECT * FROM read_csv('/etc/passwd');

-- case: bytes of a file
-- attack: files and network
-- outcome: refused D251 at 1:15
SELECT * FROM read_blob('/etc/passwd');

-- case: another database
-- attack: files and network
-- outcome: refused D251 at 1:15
SELECT * FROM read_duckdb('clinic.duckdb');

-- case: a file as a table
-- attack: files and network
-- outcome: refused D201 at 1:15
SELECT * FROM 'patients.parquet';

-- case: a file in quotes of a name
-- attack: files and network
-- outcome: refused D201 at 1:15
SELECT * FROM "https://example.com/x.csv";

-- case: names of files
-- attack: files and network
-- outcome: refused D251 at 1:15
SELECT * FROM glob('*');

-- case: an answer into a file
-- attack: files and network
-- outcome: refused D104 at 1:1
COPY (SELECT COUNT(*) FROM patients) TO 'out.csv';

-- case: a variable of Python
-- attack: files and network
-- outcome: refused D201 at 1:15
SELECT * FROM POLICIES;

-- case: settings
-- attack: other statements
-- outcome: refused D104 at 1:1
SET threads = 64;

-- case: settings back
-- attack: other statements
-- outcome: refused D104 at 1:1
RESET ALL;

-- case: a pragma
-- attack: other statements
-- outcome: refused D104 at 1:1
PRAGMA database_size;

-- case: prepared for later
-- attack: other statements
-- outcome: refused D104 at 1:1
PREPARE q AS SELECT * FROM patients;

-- case: a table of a table's name
-- attack: other statements
-- outcome: refused D104 at 1:1
CREATE TEMP TABLE patients AS SELECT 1 AS age;

-- case: two at once
-- attack: other statements
-- outcome: refused D102 at 1:32
SELECT COUNT(*) FROM patients; SELECT * FROM patients;

-- case: a change in WITH
-- attack: other statements
-- outcome: refused D105 at 1:24
WITH d AS (DELETE FROM patients RETURNING *) SELECT * FROM d;

-- case: a table from a query
-- attack: other statements
-- outcome: refused D105 at 1:15
SELECT * INTO copy FROM patients;

-- case: an unknown aggregate for a scalar
-- attack: representation
-- outcome: refused D253 at 1:8
SELECT entropy(city) FROM patients WHERE smoker;

-- case: a macro that is an aggregate
-- attack: representation
-- outcome: refused D253 at 1:8
SELECT geomean(age) FROM patients GROUP BY sex;

-- case: a position
-- attack: representation
-- outcome: refused D105 at 1:16
SELECT #1 FROM patients;

-- case: the whole row
-- attack: representation
-- outcome: refused D202 at 1:8
SELECT p FROM patients p;

-- case: a part of the whole row
-- attack: representation
-- outcome: refused D105 at 1:9
SELECT (p).income FROM patients p;

-- case: a quoted function is the same function
-- attack: representation
-- outcome: accepted
SELECT "sum"(age) AS s FROM patients WHERE sex = 'M';

-- case: a lambda
-- attack: representation
-- outcome: refused D105 at 1:28
SELECT list_transform([1], x -> x + (SELECT MAX(age) FROM patients));

-- case: columns by a pattern
-- attack: representation
-- outcome: refused D105 at 1:14
SELECT COUNT(COLUMNS('inc.*')) FROM patients;

-- case: a star in an aggregate
-- attack: representation
-- outcome: refused D105 at 1:12
SELECT SUM(*) FROM patients;

-- case: a call within a lateral alias
-- attack: representation
-- outcome: refused D253 at 1:34
-- instead: SELECT ward AS w, w || 'x' AS y, COUNT(y) FROM patients GROUP BY ALL
SELECT ward AS w, w || 'x' AS y, list(y) FROM patients GROUP BY ALL;

-- case: a catalogue before a table
-- attack: representation
-- outcome: refused D201 at 1:22
SELECT COUNT(*) FROM memory.main.patients;

-- case: a cast to a type of the caller's
-- attack: representation
-- outcome: refused D251 at 1:37
SELECT COUNT(*) FROM patients WHERE city::struct_of_mine IS NULL;

-- case: a sequence
-- attack: temporary objects
-- outcome: refused D251 at 1:8
SELECT nextval('s') FROM patients;

-- case: a name for a type
-- attack: temporary objects
-- outcome: refused D104 at 1:1
CREATE TYPE sex AS ENUM ('F');

-- case: a named parameter
-- attack: parameters
-- outcome: refused D106 at 1:43
SELECT COUNT(*) FROM patients WHERE age > $age;

-- case: a question mark without a value
-- attack: parameters
-- outcome: refused D106
SELECT COUNT(*) FROM patients LIMIT ?;

-- case: a question mark in a text is a text
-- attack: parameters
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city = '?';

-- case: the number of the query
-- attack: state
-- outcome: refused D251 at 1:8
SELECT current_query_id();

-- case: a new number at each call
-- attack: state
-- outcome: refused D251
SELECT uuid(), COUNT(*) FROM patients;

-- case: the moment is read once
-- attack: state
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM patients WHERE registered < now()::TIMESTAMP
SELECT COUNT(*) AS n FROM patients WHERE registered < now()::TIMESTAMP AND now() = now();

-- case: a name for a query of one's own
-- attack: temporary objects
-- outcome: refused D104 at 1:1
CREATE TEMP VIEW wards AS SELECT age AS beds FROM patients;

-- case: a macro that reads a table
-- attack: temporary objects
-- outcome: refused D104 at 1:1
CREATE TEMP MACRO everybody() AS TABLE SELECT * FROM patients;
