-- Sums and means, each of bounded numbers.

-- case: integers
-- outcome: accepted
SELECT SUM(age) AS years FROM patients;

-- case: floats that may be no number
-- outcome: accepted
SELECT SUM(income) AS income, AVG(income) AS mean_income FROM patients;

-- case: decimals
-- outcome: accepted
SELECT SUM(height) AS centimetres, AVG(height) AS mean_height FROM patients;

-- case: decimals of more digits than the grid has steps
-- outcome: accepted
SELECT SUM(CAST(income AS DECIMAL(12, 2))) AS income, AVG(CAST(income AS DECIMAL(12, 2)) - 700) AS above,
    VAR_POP(CAST(income AS DECIMAL(14, 4))) AS spread FROM patients;

-- case: decimals that are below 0, of many rows per unit
-- outcome: accepted
SELECT kind, SUM(CAST(-cost AS DECIMAL(12, 4))) AS paid, COUNT(*) AS n FROM visits GROUP BY kind;

-- case: whole numbers of more values than the usual grid has steps
-- outcome: accepted
SELECT SUM(age * 50000) AS total, AVG(age * 50000) FILTER (WHERE sex = 'F') AS women FROM patients;

-- case: a number bounded by its type alone
-- outcome: accepted
SELECT SUM(children) AS children, AVG(children) AS mean_children FROM patients;

-- case: many rows per unit
-- outcome: accepted
SELECT SUM(cost) AS cost, AVG(minutes) AS mean_minutes, COUNT(*) AS n FROM visits;

-- case: several sums that share one clip
-- outcome: accepted
SELECT kind, SUM(cost) AS cost, SUM(minutes) AS minutes, SUM(cost * minutes) AS both FROM visits GROUP BY kind;

-- case: negative values
-- outcome: accepted
SELECT SUM(-age) AS minus_years, SUM(60 - age) AS to_sixty FROM patients;

-- case: a sum clamped by the analyst
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(income, 10000), 100000)) AS income FROM patients;

-- case: a column without a range, clamped
-- outcome: accepted
SELECT AVG(GREATEST(LEAST(score, 5), -5)) AS mean_score FROM patients;

-- case: a column without a range, bounded by WHERE
-- outcome: accepted
SELECT SUM(score) AS total FROM patients WHERE score BETWEEN -2 AND 4.5;

-- case: a ratio with a bound of its own
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(income / NULLIF(age, 0), 0), 9000)) AS income_by_year FROM patients;

-- case: a sum of zeros
-- outcome: accepted
SELECT SUM(income * 0) AS nothing, SUM(0) AS zero FROM patients WHERE income IS NOT NULL;

-- case: booleans as numbers
-- outcome: accepted
SELECT AVG(smoker::INTEGER) AS share_of_smokers, SUM(CAST(age > 40 AS INTEGER)) AS older FROM patients;

-- case: branches of different size
-- outcome: accepted
SELECT SUM(CASE WHEN ward = 'Z' THEN 1000000 ELSE age END) AS odd_total FROM patients;

-- case: a missing value replaced by a large one
-- outcome: accepted
SELECT SUM(COALESCE(income, 400000)) AS income FROM patients;

-- case: a constant times a count
-- outcome: accepted
SELECT SUM(25) AS fees, SUM(2.5) / COUNT(*) AS fee FROM visits;

-- case: the mean of an expression
-- outcome: accepted
SELECT AVG(cost / 100 + minutes) AS mean_burden FROM visits;

-- case: three means by group
-- outcome: accepted
SELECT status, AVG(amount) AS mean_amount, AVG(amount * amount) AS mean_square, AVG(1) AS one FROM sales.orders GROUP BY status;

-- case: a wide whole number, clamped
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(steps, 0), 20000)) AS steps FROM visits;

-- case: means under other names
-- outcome: accepted
SELECT mean(age) AS a, favg(income) FILTER (WHERE smoker) AS b FROM patients;

-- case: a mean of each unit under another name
-- outcome: accepted
SELECT AVG(m) AS a FROM (SELECT patient_id, mean(cost) AS m FROM visits GROUP BY patient_id);
