-- Tuples that are compared: part by part, where two NULLs are equal.

-- case: equal to constants
-- outcome: accepted
SELECT COUNT(*) AS n, AVG(age) AS years FROM patients WHERE (sex, ward) = ('F', 'A');

-- case: not equal
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE (sex, ward) <> ('F', 'A');

-- case: one of a list, as keys too
-- outcome: accepted
SELECT sex, ward, COUNT(*) AS n FROM patients WHERE (sex, ward) IN (('F', 'A'), ('M', 'B')) GROUP BY ALL;

-- case: none of a list
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE (sex, ward, children) NOT IN (('F', 'A', 1), ('M', 'B', 0), ('M', 'C', 2));

-- case: a part that is NULL
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE (city, ward) = (NULL, 'A') OR (city, ward) IN (('Oslo', 'A'), (NULL, 'B'));

-- case: of two columns
-- outcome: accepted
SELECT SUM(CASE WHEN (a.minutes, a.urgent) = (b.minutes, b.urgent) THEN 1 ELSE 0 END) AS same
FROM visits a JOIN visits b USING (patient_id);

-- case: of expressions and of another type
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE (upper(sex), age + 1) = ('F', 30.0)) AS n FROM patients;
