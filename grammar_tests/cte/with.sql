-- WITH: names for relations, private, public or released.

-- case: a private filter
-- outcome: accepted
WITH adults AS (SELECT * FROM patients WHERE age >= 18) SELECT ward, COUNT(*) AS n FROM adults GROUP BY ward;

-- case: one after the other
-- outcome: accepted
WITH adults AS (SELECT patient_id, ward, income FROM patients WHERE age >= 18),
     insured AS (SELECT ward, income FROM adults WHERE income > 30000)
SELECT ward, AVG(income) AS mean_income FROM insured GROUP BY ward;

-- case: a column list
-- outcome: accepted
WITH p(who, years) AS (SELECT patient_id, age FROM patients) SELECT SUM(years) AS years FROM p;

-- case: a private one used twice, joined on the unit
-- outcome: accepted
WITH s AS (SELECT patient_id, cost, minutes FROM visits WHERE kind = 'surgery')
SELECT COUNT(*) AS pairs FROM s AS a JOIN s AS b USING (patient_id) WHERE a.minutes < b.minutes;

-- case: a release used once
-- outcome: accepted
WITH w AS (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) SELECT ward, n * 2 AS doubled FROM w WHERE ward IS NOT NULL;

-- case: a release used twice
-- outcome: accepted
WITH w AS (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)
SELECT a.ward, a.n, b.total FROM w AS a, (SELECT SUM(n) AS total FROM w) AS b ORDER BY a.ward;

-- case: a nested WITH
-- outcome: accepted
WITH outermost AS (
    WITH innermost AS (SELECT patient_id, age FROM patients WHERE sex = 'F')
    SELECT patient_id, age + 1 AS next_age FROM innermost
)
SELECT AVG(next_age) AS mean_next FROM outermost;

-- case: a WITH inside a subquery of FROM
-- outcome: accepted
SELECT COUNT(*) AS n FROM (WITH young AS (SELECT * FROM patients WHERE age < 30) SELECT * FROM young WHERE smoker);

-- case: a name that hides a public table
-- outcome: accepted
WITH wards AS (SELECT ward, age FROM patients) SELECT ward, SUM(age) AS years FROM wards GROUP BY ward;

-- case: a name that hides a private table
-- outcome: accepted
WITH patients AS (SELECT 'A' AS ward, 1 AS age UNION ALL SELECT 'B', 2) SELECT ward, age FROM patients ORDER BY ward;

-- case: an inner name hides an outer one
-- outcome: accepted
WITH t AS (SELECT patient_id, age AS x FROM patients)
SELECT SUM(x) AS total FROM (WITH t AS (SELECT patient_id, height AS x FROM patients) SELECT x FROM t);

-- case: a public one beside a private one
-- outcome: accepted
WITH big AS (SELECT ward FROM wards WHERE beds >= 10), old AS (SELECT ward, age FROM patients WHERE age > 40)
SELECT old.ward, COUNT(*) AS n FROM old JOIN big ON big.ward = old.ward GROUP BY old.ward;

-- case: a per-unit table, then a release, then its summary
-- outcome: accepted
WITH per_patient AS (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id),
     histogram AS (SELECT n, COUNT(*) AS people FROM per_patient GROUP BY n)
SELECT MAX(people) AS most, SUM(n * people) AS visits FROM histogram;

-- case: two releases joined
-- outcome: accepted
WITH people AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex),
     stays AS (SELECT p.sex, COUNT(*) AS visits FROM patients p JOIN visits v USING (patient_id) GROUP BY p.sex)
SELECT people.sex, visits / n AS visits_each FROM people JOIN stays ON stays.sex = people.sex;

-- case: a recursive table of numbers
-- outcome: accepted
WITH RECURSIVE numbers(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM numbers WHERE k < 4)
SELECT k, COUNT(*) AS n FROM patients JOIN numbers ON children = k GROUP BY k;

-- case: one that is never used
-- outcome: accepted
WITH unused AS (SELECT patient_id, age FROM patients) SELECT COUNT(*) AS n FROM visits;
