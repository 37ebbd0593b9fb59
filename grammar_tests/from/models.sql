-- DP_LINEAR and DP_COVARIANCE: fits to the sums of products of the columns of a query over private rows.

-- case: a linear fit
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT 'age' AS term, regr_slope(income, age) AS coefficient, 1.0 AS std_error, 1.0 AS low, 1.0 AS high, 1.0 AS margin FROM patients
SELECT * FROM DP_LINEAR((SELECT income, age FROM patients));

-- case: a fit on conditions, listed texts and many rows a unit
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT 'age' AS term, regr_slope(cost, age) AS coefficient FROM visits JOIN patients USING (patient_id)
SELECT term, coefficient
FROM dp_linear((SELECT OPTIONS(max_rows_contributed = 3) v.cost, p.age, p.sex, p.ward, p.smoker, v.minutes > 30 AS long
                FROM visits AS v JOIN patients AS p USING (patient_id))) AS fit
WHERE term <> '(intercept)';

-- case: a prediction from a fit
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT x, regr_slope(income, age) * x AS predicted FROM patients, range(20, 80, 20) AS r(x) GROUP BY x
SELECT x, SUM(coefficient * CASE term WHEN 'age' THEN x ELSE 1 END) AS predicted
FROM DP_LINEAR((SELECT income, age FROM patients)) AS fit, range(20, 80, 20) AS r(x)
GROUP BY x;

-- case: two fits compared
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT 'age' AS term, regr_slope(income, age) AS more FROM patients
SELECT a.term, a.coefficient - b.coefficient AS more
FROM DP_LINEAR((SELECT income, age FROM patients WHERE sex = 'F')) AS a
JOIN DP_LINEAR((SELECT income, age FROM patients WHERE sex = 'M')) AS b USING (term);

-- case: covariances
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT 'age' AS "row", 'income' AS "column", covar_samp(age, income) AS value FROM patients
SELECT * FROM DP_COVARIANCE((SELECT age, income, insured, ward FROM patients));

-- case: a fit of people whom an earlier release chose
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT 'age' AS term, regr_slope(income, age) AS coefficient FROM patients
SELECT term, coefficient
FROM DP_LINEAR((SELECT income, age FROM patients WHERE age > (SELECT AVG(age) FROM patients)));

-- case: people above a coefficient
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT COUNT(*) AS n FROM patients
SELECT COUNT(*) AS n FROM patients
WHERE income > (SELECT coefficient FROM DP_LINEAR((SELECT income, age FROM patients)) WHERE term = '(intercept)');

-- case: a fit with NaN and NULL among the values
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT 'height' AS term, regr_slope(age, height) AS coefficient FROM patients
SELECT term, coefficient, low, high FROM DP_LINEAR((SELECT age, height, born > DATE '1980-01-01' AS young FROM patients));

-- case: days and moments that predict
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_models.py compares it)
-- plain: SELECT 'born' AS term, regr_slope(cost, date_diff('day', DATE '1970-01-01', visited_on)) AS coefficient FROM visits
SELECT term, coefficient
FROM DP_LINEAR((SELECT OPTIONS(max_rows_contributed = 3) v.cost, v.visited_on, v.seen_at, p.born
                FROM visits AS v JOIN patients AS p USING (patient_id))) AS fit;
