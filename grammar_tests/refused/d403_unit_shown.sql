-- D403: the privacy unit, or what identifies one, is never an output or a group key.

-- case: the unit as a key
-- outcome: refused D403 at 1:8
-- instead: SELECT n, COUNT(*) AS patients FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY n
SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id;

-- case: distinct units
-- outcome: refused D403 at 1:17
SELECT DISTINCT patient_id FROM patients;

-- case: the unit's quotient
-- outcome: refused D403 at 1:8
-- instead: SELECT AVG(n) AS n FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)
SELECT patient_id // 2 AS pair, COUNT(*) FROM patients GROUP BY pair;

-- case: the unit as a text
-- outcome: refused D403 at 1:8
SELECT patient_id::VARCHAR AS who, COUNT(*) FROM patients GROUP BY who;

-- case: the unit within a text
-- outcome: refused D403 at 1:8
SELECT patient_id || '-' || ward AS who, COUNT(*) FROM patients GROUP BY 1;

-- case: the unit under another name, with GROUP BY ALL
-- outcome: refused D403 at 1:8
SELECT patient_id AS ward, COUNT(*) FROM patients GROUP BY ALL;

-- case: the unit in capitals
-- outcome: refused D403 at 1:8
SELECT "PATIENT_ID", AVG(age) FROM patients GROUP BY 1;

-- case: the unit by a column list
-- outcome: refused D403 at 1:8
SELECT c, COUNT(*) FROM patients AS t(c) GROUP BY c;

-- case: the unit through a subquery
-- outcome: refused D403 at 1:8
SELECT who, SUM(cost) FROM (SELECT patient_id AS who, cost FROM visits) GROUP BY who;

-- case: the unit through two names of WITH
-- outcome: refused D403 at 2:8
WITH a AS (SELECT patient_id AS x, age FROM patients), b(y, age) AS (SELECT x, age FROM a)
SELECT y, AVG(age) FROM b GROUP BY y;

-- case: the unit behind a name that hides a table
-- outcome: refused D403 at 1:69
WITH places AS (SELECT patient_id AS place_id FROM patients) SELECT place_id, COUNT(*) FROM places GROUP BY place_id;

-- case: a choice that shows the unit
-- outcome: refused D403 at 1:18
SELECT CASE WHEN smoker THEN patient_id END AS who, COUNT(*) FROM patients GROUP BY who;

-- case: a visit's number
-- outcome: refused D403 at 1:49
SELECT visit_id, SUM(cost) FROM visits GROUP BY visit_id;

-- case: an order's number
-- outcome: refused D403 at 1:57
SELECT order_id, SUM(amount) FROM sales.orders GROUP BY order_id;

-- case: a visit's number from a child's row
-- outcome: refused D403 at 1:56
SELECT t.visit_id, COUNT(*) FROM treatments t GROUP BY t.visit_id;

-- case: the unit beside another key
-- outcome: refused D403 at 1:8
SELECT ward, patient_id, AVG(income) FROM patients GROUP BY ward, patient_id;

-- case: the unit from the other side of a join
-- outcome: refused D403 at 1:8
SELECT v.patient_id, SUM(p.age) FROM patients p JOIN visits v ON v.patient_id = p.patient_id GROUP BY 1;

-- case: the unit in a per-unit result
-- outcome: refused D403 at 1:8
SELECT patient_id, n FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: the unit under another column's name
-- outcome: refused D403
SELECT ward, COUNT(*) FROM (SELECT * EXCLUDE (ward) RENAME (visit_id AS ward) FROM visits v JOIN patients USING (patient_id)) GROUP BY ward;

-- case: a pivot for each unit
-- outcome: refused D403 at 1:73
PIVOT visits ON kind IN ('checkup', 'surgery') USING SUM(cost) GROUP BY patient_id;

-- case: a view with a row for each unit
-- outcome: refused D403
SELECT * FROM spending;

-- case: an order's number inside ROLLUP
-- outcome: refused D403 at 1:78
SELECT order_id, status, COUNT(*) FROM sales.orders GROUP BY ROLLUP (status, order_id);

-- case: too many parts
-- outcome: refused D403 at 1:8
-- instead: SELECT patient_id % 10 AS part, COUNT(*) AS n FROM patients GROUP BY part
SELECT patient_id % 1000 AS part, COUNT(*) AS n FROM patients GROUP BY part;

-- case: the unit's number in parts
-- outcome: refused D403 at 1:93
SELECT u, COUNT(*) FROM patients, unnest(string_split(patient_id::VARCHAR, '1')) u GROUP BY u;

-- case: a unit without a table is not shown either
-- policy: by_column.toml
-- outcome: refused D403 at 1:8
-- instead: SELECT AVG(LEAST(n, 20)) AS n, COUNT(*) AS people FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)
SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id;
