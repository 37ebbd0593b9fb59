-- MIN and MAX: a value with a few rows beyond it, never anybody's own.

-- case: the extremes of a column
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT MIN(age) AS youngest, MAX(age) AS oldest FROM patients;

-- case: extremes at a price that leaves nobody beyond
-- outcome: accepted
-- epsilon: 100
-- policy: pure.toml
SELECT MIN(age) AS youngest, MAX(age) AS oldest FROM patients WHERE age > 0;

-- case: the greatest by group
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT kind, MAX(cost) AS dearest FROM visits GROUP BY kind;

-- case: the latest and the first day
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT city, MIN(visited_on) AS first, MAX(seen_at) AS latest FROM visits JOIN patients USING (patient_id) GROUP BY city;

-- case: extremes beside quantiles
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT MIN(income) AS low, MEDIAN(income) AS middle, QUANTILE_CONT(income, 0.9) AS high, MAX(income) AS top FROM patients;

-- case: quantiles of nought and one are the extremes
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT QUANTILE_DISC(age, 0) AS youngest, QUANTILE_CONT(age, 1) AS oldest, MIN(DISTINCT age) AS least FROM patients;

-- case: an aggregate in quotes
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT "min"(height) AS least FROM patients;

-- case: extremes in HAVING and ORDER BY
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT ward FROM patients GROUP BY ward HAVING MAX(income) > 1000 ORDER BY MAX(income) DESC;

-- case: values above the least
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT SUM(age - (SELECT MIN(age) FROM patients)) AS above FROM patients WHERE age BETWEEN 0 AND 120;
