-- D402: single private rows are never shown.

-- case: all columns
-- outcome: refused D402 at 1:8
-- instead: SELECT ward, COUNT(*) AS n FROM patients GROUP BY 1
SELECT * FROM patients;

-- case: one column
-- outcome: refused D402 at 1:8
SELECT age FROM patients;

-- case: one row
-- outcome: refused D402 at 1:8
SELECT income, ward FROM patients WHERE patient_id = 3;

-- case: the first rows
-- outcome: refused D402 at 1:8
SELECT age FROM patients ORDER BY age DESC LIMIT 1;

-- case: through WITH
-- outcome: refused D402 at 1:51
WITH p AS (SELECT ward, age FROM patients) SELECT ward FROM p WHERE age > 100;

-- case: through a join with a public table
-- outcome: refused D402 at 1:8
SELECT l.city, v.cost FROM visits v JOIN places l USING (place_id);

-- case: per-unit rows
-- outcome: refused D402 at 1:8
-- instead: SELECT n, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY 1
SELECT n FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: a column beside an aggregate
-- outcome: refused D402 at 1:8
SELECT age, COUNT(*) FROM patients;

-- case: a column that is no key
-- outcome: refused D402 at 1:14
-- instead: SELECT ward, AVG(income) AS income, COUNT(*) AS n FROM patients GROUP BY ward
SELECT ward, income, COUNT(*) FROM patients GROUP BY ward;

-- case: a raw column in ORDER BY
-- outcome: refused D402 at 1:60
SELECT ward, COUNT(*) FROM patients GROUP BY ward ORDER BY income;

-- case: a raw column in HAVING
-- outcome: refused D402 at 1:58
SELECT ward, COUNT(*) FROM patients GROUP BY ward HAVING income > 100000;

-- case: a constant for each row
-- outcome: refused D402 at 1:8
-- instead: SELECT COUNT(*) FROM patients
SELECT 1 FROM patients;

-- case: a star beside an aggregate
-- outcome: refused D402
-- instead: SELECT ward, COUNT(DISTINCT patient_id), COUNT(*) FROM patients GROUP BY ward
SELECT *, COUNT(*) FROM patients GROUP BY ward;

-- case: rows kept by a union all
-- outcome: refused D402 at 1:8
SELECT age FROM (SELECT patient_id, age FROM patients UNION ALL SELECT patient_id, minutes FROM visits);

-- case: a value of one row for a limit
-- outcome: refused D402 at 1:39
-- instead: SELECT city FROM places WHERE place_id < (SELECT AVG(age) FROM patients)
SELECT city FROM places LIMIT (SELECT age FROM patients WHERE patient_id = 3);

-- case: a value of one row for an offset
-- outcome: refused D402 at 1:80
SELECT ward, COUNT(*) FROM patients GROUP BY ward ORDER BY ward OFFSET (SELECT children FROM patients WHERE patient_id = 3);

-- case: a value of one row in HAVING
-- outcome: refused D402 at 1:77
-- instead: SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward HAVING COUNT(*) > (SELECT AVG(age) FROM patients)
SELECT ward, COUNT(*) FROM patients GROUP BY ward HAVING COUNT(*) > (SELECT age FROM patients WHERE patient_id = 3);

-- case: a value of one row in ORDER BY
-- outcome: refused D402 at 1:48
SELECT ward FROM wards ORDER BY beds * (SELECT children FROM patients WHERE patient_id = 3);

-- case: a count for each unit
-- outcome: refused D402 at 1:8
SELECT COUNT(*) FROM visits GROUP BY patient_id;

-- case: a table by its first word
-- outcome: refused D402 at 1:1
FROM patients WHERE smoker;

-- case: rows without their unit
-- outcome: refused D402 at 1:8
SELECT * EXCLUDE (patient_id) FROM patients;

-- case: rows with a constant for their unit
-- outcome: refused D402
FROM (SELECT * REPLACE (0 AS patient_id) FROM visits);

-- case: the rows of a view
-- outcome: refused D402 at 1:8
SELECT ward FROM adults WHERE smoker;

-- case: public rows held against each private one
-- outcome: refused D402
SELECT ward FROM wards WHERE beds > ALL (SELECT age FROM patients);

-- case: a number looked up for each row
-- outcome: refused D402 at 1:62
SELECT p.ward, (SELECT MAX(beds) FROM wards w WHERE w.beds > p.age) AS beds FROM patients p GROUP BY p.ward;

-- case: a column that is in no grouping set
-- outcome: refused D402 at 1:8
SELECT age, COUNT(*) FROM patients GROUP BY ROLLUP (ward);

-- case: the items of lists
-- outcome: refused D402 at 1:8
-- instead: SELECT unnest(allergies), COUNT(*) FROM patients GROUP BY 1
SELECT unnest(allergies) FROM patients;
