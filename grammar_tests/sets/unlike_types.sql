-- Set operations whose sides differ in type, or hold the unit more than once.

-- case: the unit above a number that is not whole
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(q, 0), 10)) FROM (
    SELECT patient_id, patient_id AS q FROM visits UNION ALL SELECT patient_id, score FROM patients);

-- case: the same, the other way round
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(q, 0), 10)) FROM (
    SELECT patient_id, income AS q FROM patients UNION ALL SELECT patient_id, patient_id FROM visits);

-- case: the unit twice, in another order
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id AS q, patient_id FROM visits INTERSECT SELECT income, patient_id FROM patients);

-- case: the unit twice, of two widths
-- outcome: accepted
SELECT COUNT(*), SUM(LEAST(GREATEST(a, 0), 10)) FROM (
    SELECT patient_id AS a, patient_id FROM visits UNION ALL SELECT patient_id, patient_id FROM sales.orders);

-- case: a date and a timestamp
-- outcome: accepted
SELECT COUNT(*) FROM (
    SELECT patient_id, visited_on AS d FROM visits UNION SELECT patient_id, registered FROM patients) WHERE d > '2023-01-01';

-- case: a text and an enum
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id, kind FROM visits UNION SELECT patient_id, blood FROM patients);

-- case: NULL and a number
-- outcome: accepted
SELECT COUNT(d), SUM(LEAST(GREATEST(d, 0), 10)) FROM (SELECT patient_id, NULL AS d FROM visits UNION ALL SELECT patient_id, age FROM patients);

-- case: of equal rows as many as there are fewer
-- outcome: accepted
SELECT COUNT(*) FROM (
    SELECT patient_id, kind FROM visits INTERSECT ALL SELECT patient_id, kind FROM visits WHERE cost > 10);

-- case: of equal rows as many as there are more
-- outcome: accepted
SELECT COUNT(*) FROM (
    SELECT patient_id, kind, cost FROM visits EXCEPT ALL SELECT patient_id, kind, cost FROM visits WHERE minutes > 10);
