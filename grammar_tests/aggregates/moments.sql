-- Variances and standard deviations of bounded numbers.

-- case: a variance
-- outcome: accepted
SELECT VAR_SAMP(age) AS variance, VAR_POP(age) AS of_all FROM patients;

-- case: standard deviations by ward
-- outcome: accepted
SELECT ward, STDDEV(age) AS deviation, AVG(age) AS mean, COUNT(*) AS n FROM patients GROUP BY ward;

-- case: all names of a spread
-- outcome: accepted
SELECT VARIANCE(age) AS a, VAR_SAMP(age) AS b, STDDEV(age) AS c, STDDEV_SAMP(age) AS d, STDDEV_POP(age) AS e FROM patients;

-- case: the mean, the sum and the count beside a variance
-- outcome: accepted
SELECT VAR_POP(minutes) AS variance, AVG(minutes) AS mean, SUM(minutes) AS total, COUNT(minutes) AS n FROM visits;

-- case: a spread of floats that may be no number
-- outcome: accepted
SELECT STDDEV_POP(income) AS deviation, COUNT(income) AS n FROM patients;

-- case: decimals and small integers
-- outcome: accepted
SELECT VAR_POP(height) AS of_height, STDDEV_SAMP(children) AS of_children FROM patients;

-- case: negative values
-- outcome: accepted
SELECT VAR_POP(-age) AS of_minus, VAR_POP(60 - age) AS of_distance FROM patients;

-- case: a spread under a condition
-- outcome: accepted
SELECT STDDEV(cost) FILTER (WHERE urgent) AS urgent, STDDEV(cost) FILTER (WHERE NOT urgent) AS other FROM visits;

-- case: many rows per unit, by a public key
-- outcome: accepted
SELECT kind, VAR_SAMP(cost) AS variance, AVG(cost) AS mean FROM visits GROUP BY kind;

-- case: by a private key
-- outcome: accepted
SELECT city, STDDEV_POP(age) AS deviation, COUNT(*) AS n FROM patients GROUP BY city;

-- case: many rows per unit, by a private key
-- outcome: accepted
SELECT place_id, VAR_POP(minutes) AS variance, COUNT(*) AS n FROM visits GROUP BY place_id;

-- case: over a join
-- outcome: accepted
SELECT p.sex, STDDEV_POP(v.cost) AS deviation FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex;

-- case: in HAVING, in arithmetic and above
-- outcome: accepted
SELECT kind, SQRT(VAR_POP(minutes)) / AVG(minutes) AS relative FROM visits GROUP BY kind HAVING STDDEV_POP(minutes) > 0 ORDER BY kind;

-- case: a spread of one value
-- outcome: accepted
SELECT VAR_POP(1) AS nothing, STDDEV_POP(2.5) AS neither FROM visits;

-- case: a clamped argument
-- outcome: accepted
SELECT STDDEV_SAMP(GREATEST(LEAST(score, 5), -5)) AS deviation FROM patients;

-- case: a wide whole number, clamped
-- outcome: accepted
SELECT VAR_POP(LEAST(GREATEST(steps, 0), 20000)) AS variance FROM visits;

-- case: truth as a number
-- outcome: accepted
SELECT STDDEV_POP(smoker::INTEGER) AS deviation, VAR_POP(CAST(age > 40 AS HUGEINT)) AS variance FROM patients;

-- case: distinct units beside a variance
-- outcome: accepted
SELECT kind, COUNT(DISTINCT patient_id) AS people, VAR_POP(minutes) AS variance FROM visits GROUP BY kind;

-- case: grouping sets
-- outcome: accepted
SELECT sex, ward, VAR_POP(age) AS variance FROM patients GROUP BY ROLLUP (sex, ward);

-- case: the spread of each unit's mean
-- outcome: accepted
SELECT STDDEV_POP(mean) AS deviation FROM (SELECT patient_id, AVG(minutes) AS mean FROM visits GROUP BY patient_id);

-- case: a variance with Laplace noise
-- outcome: accepted
-- policy: pure.toml
SELECT VAR_SAMP(age) AS variance, AVG(age) AS mean, COUNT(age) AS n FROM patients;

-- case: a variance with Laplace noise, by group
-- outcome: accepted
-- policy: pure.toml
SELECT kind, STDDEV_POP(cost) AS deviation, COUNT(*) AS n FROM visits GROUP BY kind;

-- case: a variance with Laplace noise, by group, under a condition
-- outcome: accepted
-- policy: pure.toml
SELECT kind, VAR_POP(cost) FILTER (WHERE place_id > 2) AS variance, SUM(cost) AS cost FROM visits GROUP BY kind;

-- case: a variance with Laplace noise, many rows per unit
-- outcome: accepted
-- policy: pure.toml
SELECT VAR_POP(cost) AS variance, COUNT(DISTINCT patient_id) AS people FROM visits;

-- case: conditions that exclude each other, with Laplace noise, by group
-- outcome: accepted
-- policy: pure.toml
SELECT kind, VAR_POP(cost) FILTER (WHERE place_id > 3) AS far, VAR_POP(cost) FILTER (WHERE place_id <= 3) AS near
FROM visits GROUP BY kind;

-- case: conditions that overlap, with Laplace noise, by group
-- outcome: accepted
-- policy: pure.toml
SELECT kind, STDDEV(cost) FILTER (WHERE place_id > 2) AS far, STDDEV(cost) FILTER (WHERE place_id < 5) AS near, AVG(cost) AS mean
FROM visits GROUP BY kind;

-- case: a condition written as a CASE
-- outcome: accepted
SELECT VAR_POP(CASE WHEN urgent THEN minutes END) AS v, AVG(minutes) FILTER (WHERE urgent) AS m,
    STDDEV(CASE WHEN NOT urgent THEN minutes ELSE NULL END) AS others FROM visits;

-- case: the spread of an other group
-- outcome: accepted
-- oracle: no-meaning (one row more, for what is not shown)
-- plain: SELECT city, VAR_POP(age), COUNT(*) FROM patients GROUP BY city
SELECT OPTIONS(other_group = 'elsewhere') city, VAR_POP(age) AS v, COUNT(*) AS n FROM patients GROUP BY city;

-- case: the standard error of a mean
-- outcome: accepted
SELECT STDDEV_POP(age) / SQRT(COUNT(age)) AS error FROM patients;
