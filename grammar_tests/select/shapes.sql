-- What a select list may look like when the whole table is one group.

-- case: how many patients are there
-- outcome: accepted
SELECT COUNT(*) FROM patients;

-- case: several aggregates under aliases
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(age) AS years, AVG(income) AS mean_income FROM patients;

-- case: arithmetic between aggregates
-- outcome: accepted
SELECT SUM(income) / COUNT(income) AS mean_income, COUNT(*) - COUNT(income) AS unknown FROM patients;

-- case: constants beside an aggregate
-- outcome: accepted
SELECT 'patients' AS what, COUNT(*) AS n, DATE '2024-06-30' AS as_of, NULL AS remark FROM patients;

-- case: case folding of names and keywords
-- outcome: accepted
select Count(*) as N from PATIENTS where AGE >= 18

-- case: quoted names
-- outcome: accepted
SELECT SUM("age") AS "sum of ages", COUNT("Age") AS "select" FROM "Patients";

-- case: the schema written out
-- outcome: accepted
SELECT AVG(patients.age) AS mean_age FROM main.patients;

-- case: FROM comes first
-- outcome: accepted
FROM patients SELECT COUNT(*) AS n, COUNT(city) AS with_city;

-- case: comments inside the text
-- outcome: accepted
/* the mean age
   of all patients */
SELECT AVG(age) -- years
FROM patients -- no more
;

-- case: CASE over an aggregate
-- outcome: accepted
SELECT CASE WHEN COUNT(*) > 30 THEN 'many' WHEN COUNT(*) > 10 THEN 'some' ELSE 'few' END AS size FROM patients;

-- case: casts of aggregates
-- outcome: accepted
SELECT COUNT(*)::DOUBLE / 2 AS pairs, CAST(COUNT(*) AS VARCHAR) || ' patients' AS words FROM patients;

-- case: the same aggregate under two names
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(*) AS again, COUNT(*) + COUNT(*) AS twice FROM patients;

-- case: an alias used beside its definition
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(age) AS total, total / n AS mean_age FROM patients;

-- case: a count over nobody is one row
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE ward = 'nowhere';

-- case: a range that the policy excludes is one row
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(age) AS ages FROM patients WHERE age > 120;

-- case: a sum over contradictory bounds
-- outcome: accepted
-- oracle: no-meaning (a sum over nobody is a noisy zero here and NULL in SQL)
SELECT SUM(age) AS years, AVG(income) AS mean_income FROM patients WHERE age < 30 AND age > 90;

-- case: an empty private table
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS patients FROM referrals;

-- case: a sum over an empty private table
-- outcome: accepted
-- oracle: no-meaning (a sum over nobody is a noisy zero here and NULL in SQL)
SELECT SUM(cost) AS cost FROM referrals WHERE reason IS NOT NULL;

-- case: rounding and flooring at zero
-- outcome: accepted
SELECT GREATEST(COUNT(*), 0) AS n, ROUND(AVG(age) / 100) AS centuries FROM patients;

-- case: words beyond ASCII in an alias
-- outcome: accepted
SELECT AVG(height) AS "Größe in cm" FROM patients;

-- case: distinct rows of a release
-- outcome: accepted
SELECT DISTINCT COUNT(*) > 3 AS busy FROM visits GROUP BY kind;

-- case: a price in the header
-- outcome: accepted
-- epsilon: 0.25
SELECT COUNT(*) AS adults FROM patients WHERE age >= 18 AND insured;

-- case: Laplace noise where there is no delta
-- outcome: accepted
-- policy: pure.toml
SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY ward;
