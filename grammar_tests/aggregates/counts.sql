-- Counting rows, values and units.

-- case: values that are not NULL
-- outcome: accepted
SELECT COUNT(income) AS incomes, COUNT(ward) AS wards, COUNT(allergies) AS lists FROM patients;

-- case: an expression that may be NULL
-- outcome: accepted
SELECT COUNT(NULLIF(sex, 'F')) AS not_women, COUNT(income + height) AS both_known FROM patients;

-- case: distinct units
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) AS people, COUNT(*) AS visits FROM visits;

-- case: distinct units by group
-- outcome: accepted
SELECT kind, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY kind;

-- case: distinct units from the other side of a join
-- outcome: accepted
SELECT COUNT(DISTINCT v.patient_id) AS people FROM visits v JOIN patients p ON p.patient_id = v.patient_id WHERE p.age < 50;

-- case: a condition as a CASE
-- outcome: accepted
SELECT COUNT(CASE WHEN age < 18 THEN 1 END) AS minors, SUM(CASE WHEN smoker THEN 1 ELSE 0 END) AS smokers FROM patients;

-- case: a constant counted
-- outcome: accepted
SELECT COUNT(1) AS n, COUNT('x') AS also_n, SUM(1) AS once_more FROM visits;

-- case: the unit counted
-- outcome: accepted
SELECT COUNT(patient_id) AS n FROM visits WHERE cost > 50;

-- case: COUNT_IF
-- outcome: accepted
SELECT COUNT_IF(urgent) AS urgent, COUNT_IF(minutes > 60) AS "long" FROM visits;

-- case: the short way to count rows
-- outcome: accepted
SELECT COUNT() AS n FROM visits;

-- case: distinct units where each has one row
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) AS n FROM patients;

-- case: distinct units beside rows, with a condition, one row each
-- outcome: accepted
SELECT sex, COUNT(DISTINCT patient_id) FILTER (WHERE smoker) AS smokers, COUNT(*) AS n, SUM(age) AS years
FROM patients GROUP BY sex;

-- case: distinct units of private groups, one row each, with a condition
-- outcome: accepted
SELECT city, COUNT(DISTINCT patient_id) FILTER (WHERE age > 30) AS n FROM patients GROUP BY city;

-- case: distinct units beside a mean that counts them
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) AS n, AVG(children + 1) AS children FROM patients;
