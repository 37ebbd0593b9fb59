-- DP_LOGISTIC: logistic fits in steps that read what was released before.

-- case: a logistic fit
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_logistic.py compares it)
-- plain: SELECT 'age' AS term, 1.0 AS coefficient, 1.0 AS std_error, 1.0 AS low, 1.0 AS high, 1.0 AS margin FROM patients
SELECT * FROM DP_LOGISTIC((SELECT OPTIONS(steps = 4) smoker, age FROM patients));

-- case: a logistic fit on conditions, listed texts and many rows a unit
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_logistic.py compares it)
-- plain: SELECT 'age' AS term, 1.0 AS coefficient FROM visits JOIN patients USING (patient_id)
SELECT term, coefficient
FROM dp_logistic((SELECT OPTIONS(max_rows_contributed = 3, steps = 5) v.urgent, p.age, p.sex, p.ward, v.minutes > 30 AS long
                  FROM visits AS v JOIN patients AS p USING (patient_id))) AS fit
WHERE term <> '(intercept)';

-- case: a chance that a logistic fit predicts
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_logistic.py compares it)
-- plain: SELECT x, 1.0 AS chance FROM patients, range(20, 80, 20) AS r(x) GROUP BY x
SELECT x, 1 / (1 + exp(-SUM(coefficient * CASE term WHEN 'age' THEN x ELSE 1 END))) AS chance
FROM DP_LOGISTIC((SELECT OPTIONS(steps = 4) smoker, age FROM patients)) AS fit, range(20, 80, 20) AS r(x)
GROUP BY x;

-- case: a logistic fit of 0 and 1, on NULL and NaN, of people whom an earlier release chose
-- outcome: accepted
-- oracle: no-meaning (DuckDB has no such function; tests/privacy/test_logistic.py compares it)
-- plain: SELECT 'height' AS term, 1.0 AS coefficient FROM patients
SELECT term, coefficient
FROM DP_LOGISTIC((SELECT OPTIONS(steps = 4) CASE WHEN insured THEN 1 ELSE 0 END AS y, height FROM patients
                  WHERE age > (SELECT AVG(age) FROM patients)));
