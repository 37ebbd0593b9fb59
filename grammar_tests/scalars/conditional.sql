-- Choices between values.

-- case: CASE with a condition
-- outcome: accepted
SELECT SUM(CASE WHEN age < 18 THEN 0 WHEN insured THEN 10 ELSE 20 END) AS fees FROM patients;

-- case: CASE with a value
-- outcome: accepted
SELECT SUM(CASE kind WHEN 'surgery' THEN cost WHEN 'therapy' THEN cost / 2 END) AS weighted FROM visits;

-- case: COALESCE over several columns
-- outcome: accepted
SELECT AVG(COALESCE(income, height, age, 0)) AS x FROM patients;

-- case: NULLIF
-- outcome: accepted
SELECT AVG(NULLIF(children, 0)) AS mean_of_parents FROM patients;

-- case: IF and IFNULL
-- outcome: accepted
SELECT SUM(IF(urgent, 2, 1)) AS weight, SUM(IFNULL(cost, 50)) AS cost FROM visits;

-- case: a boolean made of three values
-- outcome: accepted
SELECT insured AND smoker AS risky, COUNT(*) AS n FROM patients GROUP BY risky;

-- case: a choice inside a choice
-- outcome: accepted
SELECT SUM(CASE WHEN sex = 'F' THEN CASE WHEN age > 50 THEN 3 ELSE 2 END ELSE 1 END) AS points FROM patients;

-- case: comparisons as values
-- outcome: accepted
SELECT ward IN ('A', 'B') AS front, income IS NULL AS unknown, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: the larger of a column and a missing value
-- outcome: accepted
SELECT SUM(GREATEST(income, 30000)) AS at_least, SUM(LEAST(children, NULL)) AS known FROM patients WHERE income IS NOT NULL;

-- case: a wide decimal beside a fraction, which rounds as in DuckDB
-- outcome: accepted
SELECT SUM(CASE WHEN age < 0 THEN CAST(age AS DECIMAL(38, 0)) ELSE 0.5 END) AS s FROM patients;
