-- A query that asks for no rows is told names and types: it cannot be made to compute anything.

-- case: a condition that rows could decide
-- attack: questions for columns
-- outcome: refused D402 at 1:8
SELECT * FROM patients WHERE age > 200;

-- case: a constant that has to be computed
-- attack: questions for columns
-- outcome: refused D402 at 1:8
SELECT * FROM patients WHERE 1 = 2 - 1 - 1;

-- case: no rows, or those of one patient
-- attack: questions for columns
-- outcome: refused D402 at 1:8
SELECT * FROM patients WHERE 1 = 0 OR patient_id = 3;

-- case: a limit that a release decides
-- attack: questions for columns
-- outcome: refused D402 at 1:8
SELECT * FROM patients LIMIT (SELECT COUNT(*) FROM patients WHERE patient_id = 3);

-- case: a limit of a part of them
-- attack: questions for columns
-- outcome: refused D402 at 1:8
SELECT age, sex FROM patients LIMIT 0.9;

-- case: a column that the policy does not list
-- attack: questions for columns
-- outcome: refused D202 at 1:8
SELECT notes FROM patients LIMIT 0;

-- case: a table that the policy does not list
-- attack: questions for columns
-- outcome: refused D201 at 1:15
SELECT * FROM staff WHERE 1 = 0;

-- case: a condition further in
-- attack: questions for columns
-- outcome: refused D252 at 1:52
SELECT COUNT(*) FROM (SELECT * FROM patients LIMIT 0);

-- case: another side of a union
-- attack: questions for columns
-- outcome: refused D402
SELECT patient_id FROM patients WHERE 1 = 0 UNION ALL SELECT patient_id FROM visits;

-- case: a function that nobody has vetted
-- attack: questions for columns
-- outcome: refused D251 at 1:8
SELECT query('SELECT 1') FROM patients LIMIT 0;

-- case: a division that would fail on somebody
-- attack: questions for columns
-- outcome: accepted
SELECT 100 // (age - 40) AS x, CAST(city AS INTEGER) AS y FROM patients WHERE 1 = 0;

-- case: one patient, and whether she has visits
-- attack: questions for columns
-- outcome: accepted
SELECT * FROM (SELECT p.age FROM patients p WHERE p.patient_id = 3 AND EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id)) AS q WHERE 1 = 0;

-- case: a release beside it, which would fail on it
-- attack: questions for columns
-- outcome: accepted
SELECT * FROM (SELECT CAST('x' || n AS INTEGER) AS n FROM (SELECT COUNT(*) AS n FROM patients)) AS q LIMIT 0;
