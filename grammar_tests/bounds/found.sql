-- What the policy leaves out is found privately: a column's range, the rows per unit of a table.

-- case: a sum of a column without a range
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(income) AS s FROM patients;

-- case: a mean by group
-- outcome: accepted
-- policy: finds.toml
SELECT ward, AVG(age) AS mean_age, COUNT(*) AS n FROM patients GROUP BY ward;

-- case: weights beside a column without a range
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT COUNT(*) AS n, SUM(income) AS s FROM patients
SELECT OPTIONS(weights = [4, 1]) COUNT(*) AS n, SUM(income) AS s FROM patients;

-- case: negative numbers, NaN and infinity
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(score) AS s, AVG(score) AS a FROM patients;

-- case: decimals
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(height) AS s FROM patients;

-- case: whole numbers as wide as their type
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(steps) AS s FROM visits;

-- case: two columns in one expression
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(age * height) AS s FROM patients;

-- case: a bound on one side that a condition says
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(income) AS s FROM patients WHERE income > 0;

-- case: some rows of a column whose range is found over all
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(cost) FILTER (WHERE kind = 'surgery') AS s FROM visits WHERE minutes > 30;

-- case: rows per unit
-- outcome: accepted
-- policy: finds.toml
SELECT COUNT(*) AS n FROM visits;

-- case: rows per unit by group
-- outcome: accepted
-- policy: finds.toml
SELECT kind, COUNT(*) AS n, SUM(minutes) AS m FROM visits GROUP BY kind;

-- case: rows per unit along a foreign key
-- outcome: accepted
-- policy: finds.toml
SELECT COUNT(*) AS n, AVG(dose) AS d FROM treatments;

-- case: rows per unit of both sides of a join
-- outcome: accepted
-- policy: finds.toml
SELECT p.ward, COUNT(*) AS n FROM patients p JOIN visits v USING (patient_id) GROUP BY p.ward;

-- case: a count per unit
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(n) AS s FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: a sum per unit of what has no range
-- outcome: accepted
-- policy: finds.toml
-- oracle: no-meaning (floating-point sums of a unit are on a grid)
SELECT SUM(total) AS s FROM (SELECT patient_id, SUM(income) AS total FROM patients GROUP BY patient_id);

-- case: a running sum of what has no range
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(s) AS s FROM (SELECT patient_id, SUM(steps) OVER (PARTITION BY patient_id) AS s FROM visits);

-- case: private keys beside a range that is found
-- outcome: accepted
-- policy: finds.toml
SELECT city, SUM(income) AS s FROM patients GROUP BY city;

-- case: a key made of a column whose range is found is a private key
-- outcome: accepted
-- policy: finds.toml
SELECT age // 10 AS decade, SUM(age) AS s FROM patients GROUP BY 1;

-- case: a mean that a later stage awaits
-- outcome: accepted
-- policy: finds.toml
SELECT COUNT(*) AS n FROM patients WHERE age > (SELECT AVG(age) FROM patients);

-- case: a union of tables without rows per unit
-- outcome: accepted
-- policy: finds.toml
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM patients UNION ALL SELECT patient_id FROM visits);

-- case: clamped by the query, nothing is found
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(LEAST(GREATEST(income, 0), 500000)) AS s FROM patients;

-- case: a spread
-- outcome: accepted
-- policy: finds.toml
SELECT VAR_POP(income) AS v, STDDEV(income) AS s FROM patients;

-- case: a correlation of two columns without a range
-- outcome: accepted
-- policy: finds.toml
SELECT CORR(income, age) AS r, REGR_SLOPE(income, age) AS b FROM patients;

-- case: a median of what has no range
-- outcome: accepted
-- policy: finds.toml
-- oracle: no-meaning (one of the bins is chosen, no number between two values)
SELECT MEDIAN(age) AS m FROM patients;

-- case: quantiles by group, of rows that are counted per unit first
-- outcome: accepted
-- policy: finds.toml
-- oracle: no-meaning (one of the bins is chosen, no number between two values)
SELECT kind, QUANTILE_CONT(cost, [0.25, 0.75]) AS q FROM visits GROUP BY kind;

-- case: an extreme
-- outcome: accepted
-- policy: finds.toml
-- oracle: no-meaning (a value with some units beyond it)
SELECT MAX(income) AS m FROM patients;

-- case: distinct values of a table without rows per unit
-- outcome: accepted
-- policy: finds.toml
SELECT COUNT(DISTINCT place_id) AS n FROM visits;

-- case: overlapping conditions
-- outcome: accepted
-- policy: finds.toml
SELECT SUM(income) FILTER (WHERE smoker) AS a, SUM(income) FILTER (WHERE age > 40) AS b FROM patients;

-- case: a share of the price as everybody pays it
-- outcome: accepted
-- policy: finds.toml
-- epsilon: 0.01
SELECT AVG(steps) AS a FROM visits;

-- case: the spread of a column without a range
-- outcome: accepted
-- policy: finds.toml
-- oracle: no-meaning (values beyond the bounds that are found are clamped)
SELECT ward, STDDEV(score) AS deviation, AVG(score) AS mean FROM patients GROUP BY ward;

-- case: a correlation of two columns without ranges
-- outcome: accepted
-- policy: finds.toml
-- oracle: no-meaning (values beyond the bounds that are found are clamped)
SELECT CORR(score, income) AS r FROM patients;

-- case: a line of one patient's rows, both sides without ranges
-- outcome: accepted
-- policy: finds.toml
-- oracle: no-meaning (values beyond the bounds that are found are clamped)
SELECT COUNT(*) AS n FROM (SELECT patient_id, REGR_SLOPE(cost, minutes) AS s FROM visits GROUP BY patient_id) WHERE s > 1;

-- case: a bound is found before weights apply
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT SUM(income) AS s, COUNT(*) AS n FROM patients
SELECT OPTIONS(weights = [1, 2]) SUM(income) AS s, COUNT(*) AS n FROM patients;
