-- Two arguments: covariance, correlation, and the line of least squares.

-- case: a correlation
-- outcome: accepted
SELECT CORR(age, income) AS r FROM patients;

-- case: both covariances by group
-- outcome: accepted
SELECT sex, COVAR_POP(age, height) AS of_all, COVAR_SAMP(age, height) AS of_sample FROM patients GROUP BY sex;

-- case: a line
-- outcome: accepted
SELECT REGR_SLOPE(cost, minutes) AS slope, REGR_INTERCEPT(cost, minutes) AS intercept, REGR_R2(cost, minutes) AS r2,
    REGR_COUNT(cost, minutes) AS n FROM visits;

-- case: the sums behind a line
-- outcome: accepted
SELECT REGR_AVGX(cost, minutes) AS mean_x, REGR_AVGY(cost, minutes) AS mean_y, REGR_SXX(cost, minutes) AS sxx,
    REGR_SYY(cost, minutes) AS syy, REGR_SXY(cost, minutes) AS sxy FROM visits;

-- case: one side of a pair
-- outcome: accepted
SELECT REGR_AVGX(income, age) AS mean_age, REGR_COUNT(income, age) AS n FROM patients;

-- case: squares of one side of a pair
-- outcome: accepted
SELECT REGR_SYY(income, age) AS of_income, REGR_SXX(income, age) AS of_age FROM patients;

-- case: how many have both
-- outcome: accepted
SELECT ward, REGR_COUNT(income, age) AS n FROM patients GROUP BY ward;

-- case: moments of each side beside their correlation
-- outcome: accepted
SELECT CORR(smoker::INTEGER, patient_id % 5) AS r, VAR_POP(smoker::INTEGER) AS v, AVG(patient_id % 5) AS m, COUNT(*) AS n
FROM patients WHERE patient_id > 0;

-- case: the same pair the other way round
-- outcome: accepted
SELECT CORR(cost, minutes) AS r, CORR(minutes, cost) AS again, REGR_SLOPE(minutes, cost) AS slope FROM visits;

-- case: a value with itself
-- outcome: accepted
SELECT CORR(age, age) AS r, COVAR_POP(age, age) AS variance FROM patients;

-- case: a correlation by a private key
-- outcome: accepted
SELECT place_id, CORR(cost, minutes) AS r FROM visits GROUP BY place_id HAVING COUNT(*) > 20;

-- case: a correlation under a condition
-- outcome: accepted
SELECT CORR(cost, minutes) FILTER (WHERE urgent) AS r, CORR(cost, minutes) AS of_all FROM visits;

-- case: a correlation over a join
-- outcome: accepted
SELECT CORR(p.age, v.cost) AS r FROM visits v JOIN patients p USING (patient_id);

-- case: a correlation of what each unit adds up
-- outcome: accepted
SELECT CORR(n, LEAST(spent, 5000)) AS r FROM (SELECT patient_id, COUNT(*) AS n, SUM(cost) AS spent FROM visits GROUP BY patient_id);

-- case: a correlation with Laplace noise
-- outcome: accepted
-- policy: pure.toml
SELECT CORR(cost, place_id % 7) AS r FROM visits;

-- case: a line with Laplace noise, by group
-- outcome: accepted
-- policy: pure.toml
SELECT kind, REGR_SLOPE(cost, place_id % 7) AS slope, REGR_COUNT(cost, place_id % 7) AS n FROM visits GROUP BY kind;

-- case: a covariance with Laplace noise, beside counted units
-- outcome: accepted
-- policy: pure.toml
SELECT COVAR_POP(cost, place_id % 7) AS c, COUNT(DISTINCT patient_id) AS people FROM visits;

-- case: conditions that exclude each other, with Laplace noise
-- outcome: accepted
-- policy: pure.toml
SELECT kind, CORR(cost, place_id % 7) FILTER (WHERE visit_id % 2 = 0) AS even, CORR(cost, place_id % 7) FILTER (WHERE visit_id % 2 = 1) AS odd
FROM visits GROUP BY kind;

-- case: a pair's condition written as a CASE beside it
-- outcome: accepted
SELECT CORR(patient_id % 5, smoker::INTEGER) FILTER (WHERE age > 40) AS r, AVG(CASE WHEN age > 40 THEN patient_id % 5 END) AS m,
    COUNT(CASE WHEN age > 40 THEN 1 END) AS n FROM patients WHERE patient_id > 0;
