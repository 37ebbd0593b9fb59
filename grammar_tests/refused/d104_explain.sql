EXPLAIN of what is not a query, or with settings.

-- case: explain with a format
-- outcome: refused D104 at 1:9
EXPLAIN (FORMAT json) SELECT COUNT(*) FROM patients;

-- case: explain of an explain
-- outcome: refused D104 at 1:9
-- instead: EXPLAIN SELECT COUNT(*) FROM patients
EXPLAIN EXPLAIN SELECT COUNT(*) FROM patients;

-- case: explain of a table
-- outcome: refused D104 at 1:9
EXPLAIN CREATE TABLE copied AS SELECT 1;

-- case: explain of nothing
-- outcome: refused D101
EXPLAIN;

-- case: explain of two statements
-- outcome: refused D102 at 1:40
EXPLAIN SELECT COUNT(*) FROM patients; SELECT 1;

-- case: explain of rows
-- outcome: refused D402 at 1:16
EXPLAIN SELECT age FROM patients WHERE smoker;
