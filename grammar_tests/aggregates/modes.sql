-- MODE: the most frequent of declared values.

-- case: the most frequent kind
-- outcome: accepted
SELECT MODE(kind) AS most FROM visits;

-- case: modes by group
-- outcome: accepted
-- oracle: no-meaning (some values are equally frequent)
SELECT sex, MODE(ward) AS ward, MODE(insured) AS insured FROM patients GROUP BY sex;

-- case: modes by groups that are not public
-- outcome: accepted
-- oracle: no-meaning (some values are equally frequent)
SELECT city, MODE(smoker) AS smoker FROM patients GROUP BY city;

-- case: the most frequent number of a small range
-- outcome: accepted
SELECT MODE(children) AS children, MODE(age // 10) AS decade FROM patients;

-- case: the most frequent month
-- outcome: accepted
-- oracle: no-meaning (months tie here, and DuckDB takes any of them)
SELECT MODE(date_trunc('month', visited_on)) AS month FROM visits;

-- case: the most frequent kind among some rows
-- outcome: accepted
SELECT MODE(kind) FILTER (WHERE urgent) AS urgent, COUNT(*) AS n FROM visits;

-- case: a mode under pure privacy
-- outcome: accepted
-- policy: pure.toml
-- oracle: no-meaning (some values are equally frequent)
SELECT MODE(ward) AS ward FROM patients WHERE sex = 'F';

-- case: the most frequent of an expression with few values
-- outcome: accepted
SELECT MODE(CASE WHEN age < 18 THEN 'child' WHEN age < 67 THEN 'adult' ELSE 'senior' END) AS most FROM patients;
