-- DP_SAMPLE: an aggregate of blocks of units, of which the median is chosen. What plain DuckDB gives is of all rows.

-- case: the skewness by sampling
-- outcome: accepted
-- oracle: no-meaning (the median over blocks is another number than the aggregate of all rows)
-- plain: SELECT skewness(age) AS skewness FROM patients
SELECT DP_SAMPLE(skewness(age), -5, 5) AS skewness FROM patients;

-- case: samples beside sums
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT kurtosis(income), kurtosis_pop(income), AVG(income), COUNT(*) FROM patients
SELECT DP_SAMPLE(kurtosis(income), -3, 30), DP_SAMPLE(kurtosis_pop(income), -3, 30), AVG(income), COUNT(*) FROM patients;

-- case: a sample of many rows a unit
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT mad(cost) AS deviation FROM visits
SELECT DP_SAMPLE(mad(cost), 0, 1000) AS deviation FROM visits;

-- case: a sample where nobody says how many rows a unit has
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT entropy(seconds) AS bits FROM calls
SELECT DP_SAMPLE(entropy(seconds), 0, 10) AS bits FROM calls;

-- case: a sample by what is one for each unit
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT ward, stddev(cost) AS spread FROM visits JOIN patients USING (patient_id) GROUP BY ward
SELECT ward, DP_SAMPLE(stddev(cost), 0, 1000) AS spread FROM visits JOIN patients USING (patient_id) GROUP BY ward;

-- case: a sample by a private key
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT city, avg(age) AS age, COUNT(*) AS n FROM patients GROUP BY city
SELECT city, DP_SAMPLE(avg(age), 0, 120) AS age, COUNT(*) AS n FROM patients GROUP BY city;

-- case: a sample with two conditions
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT variance(age) FILTER (WHERE smoker) AS v FROM patients
SELECT DP_SAMPLE(variance(age) FILTER (WHERE smoker), 0, 3600) FILTER (WHERE sex = 'F') AS v FROM patients;

-- case: quantiles of an expression by sampling
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT quantile_cont(cost / minutes, 0.9) AS q, median(score) AS m FROM visits JOIN patients USING (patient_id)
SELECT DP_SAMPLE(quantile_cont(cost / minutes, 0.9), 0, 100) AS q, DP_SAMPLE(median(score), -10, 10) AS m
FROM visits JOIN patients USING (patient_id);

-- case: a sample of a column that nothing bounds
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT favg(score) AS mean, mode(children) AS usual FROM patients
SELECT DP_SAMPLE(favg(score), -10.5, 1e3) AS mean, DP_SAMPLE(mode(children), 0, 9) AS usual FROM patients;

-- case: the same sample twice is one
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT skewness(age) AS a, SKEWNESS(age) + 1 AS b FROM patients
SELECT DP_SAMPLE(skewness(age), -5, 5) AS a, dp_sample(SKEWNESS(age), -5.0, 5) + 1 AS b FROM patients;

-- case: samples in HAVING and above
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT sex, round(s, 1) AS s FROM ( SELECT sex, skewness(age) AS s FROM patients GROUP BY sex HAVING mad(age) > 1 ) ORDER BY s
SELECT sex, round(s, 1) AS s FROM (
    SELECT sex, DP_SAMPLE(skewness(age), -5, 5) AS s FROM patients GROUP BY sex HAVING DP_SAMPLE(mad(age), 0, 60) > 1
) ORDER BY s;

-- case: samples under ROLLUP
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT sex, smoker, stddev_pop(age) AS s FROM patients GROUP BY ROLLUP (sex, smoker)
SELECT sex, smoker, DP_SAMPLE(stddev_pop(age), 0, 60) AS s FROM patients GROUP BY ROLLUP (sex, smoker);

-- case: a sample of each unit's own numbers
-- outcome: accepted
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT skewness(n) AS s FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)
SELECT DP_SAMPLE(skewness(n), -5, 5) AS s FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: a sample under pure privacy
-- outcome: accepted
-- policy: pure.toml
-- epsilon: 0.5
-- oracle: no-meaning (the median over blocks)
-- plain: SELECT var_pop(age) AS v, quantile_disc(age, 0) AS q FROM patients
SELECT DP_SAMPLE(var_pop(age), 0, 3600) AS v, DP_SAMPLE(quantile_disc(age, 0), 0, 120) AS q FROM patients;
