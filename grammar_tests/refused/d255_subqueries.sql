-- D255: subqueries over private rows that are neither per unit nor a release, or are still to come.

-- case: the exact mean beside each row
-- outcome: refused D255 at 1:54
SELECT COUNT(*) FROM patients WHERE income > (SELECT AVG(income) FROM patients);

-- case: a choice by somebody's existence
-- outcome: refused D255 at 1:37
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM patients WHERE city = 'Longyearbyen') THEN 100 ELSE 0 END) FROM patients;

-- case: somebody else's value
-- outcome: refused D255 at 1:52
SELECT COUNT(*) FROM patients WHERE age IN (SELECT age FROM patients WHERE patient_id = 3);

-- case: somebody with the same age
-- outcome: refused D255 at 2:22
SELECT COUNT(*) FROM patients p
WHERE EXISTS (SELECT 1 FROM patients q WHERE q.age = p.age AND q.patient_id <> p.patient_id);

-- case: the mean of the others in the ward
-- outcome: refused D255 at 1:55
SELECT COUNT(*) FROM patients p WHERE p.age > (SELECT AVG(q.age) FROM patients q WHERE q.ward = p.ward);

-- case: those with a visit, still to come
-- outcome: refused D255 at 1:54
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id);

-- case: those in a list of units, still to come
-- outcome: refused D255 at 1:59
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE kind = 'surgery');

-- case: those in no list of units
-- outcome: refused D255 at 1:63
SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits);

-- case: a count per unit, still to come
-- outcome: refused D255 at 2:20
SELECT AVG(n) FROM (
    SELECT (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id) AS n FROM patients p
);

-- case: a subquery inside an aggregate
-- outcome: refused D253 at 1:26
SELECT SUM(age - (SELECT MIN(age) FROM patients)) FROM patients;

-- case: a subquery inside FILTER
-- outcome: refused D255 at 1:45
SELECT COUNT(*) FILTER (WHERE age < (SELECT AVG(age) FROM patients)) FROM patients;

-- case: a subquery as a group key
-- outcome: refused D255 at 1:50
SELECT COUNT(*) FROM patients p GROUP BY (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id);

-- case: a value of one row among constants
-- outcome: refused D402 at 1:20
VALUES (1, (SELECT age FROM patients WHERE patient_id = 3));

-- case: a count for each row of a public table
-- outcome: refused D255 at 1:24
SELECT w.ward, (SELECT COUNT(*) FROM patients p WHERE p.ward = w.ward) AS n FROM wards w;
