-- D203: the column name is ambiguous.

-- case: the unit of two tables
-- outcome: refused D203 at 1:14
-- instead: SELECT COUNT(p.patient_id) FROM patients p JOIN visits v ON p.patient_id = v.patient_id
SELECT COUNT(patient_id) FROM patients p JOIN visits v ON p.patient_id = v.patient_id;

-- case: a private and a public column
-- outcome: refused D203 at 1:68
SELECT city, COUNT(*) FROM patients p CROSS JOIN places l GROUP BY city;

-- case: two sides of a self join
-- outcome: refused D203 at 1:12
SELECT SUM(cost) FROM visits a JOIN visits b USING (patient_id);

-- case: in a condition
-- outcome: refused D203 at 1:68
SELECT COUNT(*) FROM visits v JOIN places l USING (place_id) WHERE kind = 'clinic';

-- case: one name twice in a subquery
-- outcome: refused D203 at 1:12
SELECT SUM(x) FROM (SELECT patient_id, age AS x, height AS x FROM patients);

-- case: a column replaced that two tables have
-- outcome: refused D203
-- instead: SELECT COUNT(*) FROM (SELECT p.* REPLACE ('Oslo' AS city) FROM patients p JOIN visits v USING (patient_id) JOIN places USING (place_id))
SELECT COUNT(*) FROM (SELECT * REPLACE (1 AS city) FROM patients p JOIN visits v USING (patient_id) JOIN places USING (place_id));

-- case: one value twice in a pivot
-- outcome: refused D203
-- instead: PIVOT patients ON sex IN ('F', 'M') USING SUM(age) AS years GROUP BY ward
PIVOT patients ON sex IN ('F', 'F') USING SUM(age) GROUP BY ward;
