-- UNION, INTERSECT and EXCEPT of private rows that carry the unit.

-- case: UNION of units
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM visits UNION SELECT patient_id FROM calls);

-- case: UNION with a column
-- outcome: accepted
SELECT what, COUNT(*) AS n FROM (
    SELECT patient_id, kind AS what FROM visits UNION SELECT patient_id, drug FROM visits JOIN treatments USING (visit_id))
GROUP BY what;

-- case: INTERSECT of units
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM visits INTERSECT SELECT patient_id FROM sales.orders);

-- case: EXCEPT of units
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM patients EXCEPT SELECT patient_id FROM visits);

-- case: EXCEPT with a column that may be NULL
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id, urgent FROM visits EXCEPT SELECT patient_id, insured FROM patients WHERE age > 40);

-- case: INTERSECT with dates
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id, visited_on FROM visits WHERE kind = 'surgery' INTERSECT SELECT patient_id, visited_on FROM visits);

-- case: INTERSECT ALL
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id, kind FROM visits INTERSECT ALL SELECT patient_id, kind FROM visits WHERE minutes > 30);

-- case: EXCEPT ALL
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (
    SELECT patient_id, kind FROM visits EXCEPT ALL SELECT patient_id, kind FROM visits WHERE minutes > 60)
GROUP BY kind;

-- case: chained
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id FROM patients EXCEPT SELECT patient_id FROM visits UNION ALL SELECT patient_id FROM sales.orders);

-- case: UNION ALL BY NAME
-- outcome: accepted
SELECT SUM(m) AS m FROM (
    SELECT patient_id, minutes AS m FROM visits UNION ALL BY NAME SELECT age AS m, patient_id FROM patients);

-- case: numbers of different types
-- outcome: accepted
SELECT SUM(LEAST(x, 200)) AS x FROM (
    SELECT patient_id, height AS x FROM patients UNION ALL SELECT patient_id, minutes FROM visits WHERE minutes > 0);
