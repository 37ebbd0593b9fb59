-- D253, D205: what DP_SAMPLE does not take.

-- case: bounds the wrong way round
-- outcome: refused D205 at 1:33
-- instead: SELECT DP_SAMPLE(skewness(age), -5, 5) FROM patients
SELECT DP_SAMPLE(skewness(age), 5, -5) FROM patients;

-- case: bounds without anything between
-- outcome: refused D205 at 1:33
SELECT DP_SAMPLE(skewness(age), 5, 5.0) FROM patients;

-- case: a bound that is no constant
-- outcome: refused D205 at 1:37
SELECT DP_SAMPLE(skewness(age), -5, age) FROM patients;

-- case: a bound that is an aggregate
-- outcome: refused D205 at 1:36
SELECT DP_SAMPLE(skewness(age), 0, MAX(age)) FROM patients;

-- case: a bound that is a text
-- outcome: refused D205 at 1:33
SELECT DP_SAMPLE(kurtosis(age), 'low', 5) FROM patients;

-- case: a bound that is beyond all numbers
-- outcome: refused D205 at 1:40
SELECT DP_SAMPLE(kurtosis_pop(age), 0, 1e305) FROM patients;

-- case: no bounds
-- outcome: refused D205 at 1:8
SELECT DP_SAMPLE(skewness(age)) FROM patients;

-- case: nothing to take a sample of
-- outcome: refused D205 at 1:8
SELECT DP_SAMPLE() FROM patients;

-- case: a sample inside a sample
-- outcome: refused D253 at 1:18
SELECT DP_SAMPLE(DP_SAMPLE(skewness(age), -5, 5), -5, 5) FROM patients;

-- case: an aggregate inside the aggregate of a sample
-- outcome: refused D253 at 1:27
SELECT DP_SAMPLE(skewness(AVG(age)), -5, 5) FROM patients;

-- case: a sample inside an aggregate
-- outcome: refused D253 at 1:8
-- instead: SELECT AVG(s) FROM (SELECT DP_SAMPLE(skewness(age), -5, 5) AS s FROM patients)
SELECT AVG(DP_SAMPLE(skewness(age), -5, 5)) FROM patients;

-- case: a sample in WHERE
-- outcome: refused D253 at 1:37
-- instead: SELECT sex, DP_SAMPLE(mad(age), 0, 60) AS m FROM patients GROUP BY sex HAVING DP_SAMPLE(mad(age), 0, 60) > 3
SELECT COUNT(*) FROM patients WHERE DP_SAMPLE(mad(age), 0, 60) > 3;

-- case: a sample of a count
-- outcome: refused D253 at 1:18
-- instead: SELECT COUNT(*) FROM patients
SELECT DP_SAMPLE(COUNT(*), 0, 100) FROM patients;

-- case: a sample of a column
-- outcome: refused D253 at 1:18
-- instead: SELECT DP_SAMPLE(avg(age), 0, 100) FROM patients
SELECT DP_SAMPLE(age, 0, 100) FROM patients;

-- case: a sample of an aggregate that gives rows back
-- outcome: refused D253 at 1:18
SELECT DP_SAMPLE(arg_max(age, income), 0, 100) FROM patients;

-- case: a sample of distinct values
-- outcome: refused D253 at 1:18
-- instead: SELECT DP_SAMPLE(avg(age), 0, 100) FROM patients
SELECT DP_SAMPLE(avg(DISTINCT age), 0, 100) FROM patients;

-- case: a sample of a text
-- outcome: refused D205 at 1:26
-- instead: SELECT DP_SAMPLE(entropy(length(city)), 0, 10) FROM patients
SELECT DP_SAMPLE(entropy(city), 0, 10) FROM patients;

-- case: a sample of a quantile above one
-- outcome: refused D205 at 1:37
-- instead: SELECT DP_SAMPLE(quantile_cont(age, 0.9), 0, 100) FROM patients
SELECT DP_SAMPLE(quantile_cont(age, 1.5), 0, 100) FROM patients;

-- case: a sample of many quantiles
-- outcome: refused D205 at 1:38
SELECT DP_SAMPLE(quantile_cont(age, [0.1, 0.9]), 0, 100) FROM patients;

-- case: a sample by a key of the rows
-- outcome: refused D302 at 1:70
-- instead: SELECT DP_SAMPLE(mad(cost), 0, 1000) FROM visits WHERE kind = 'checkup'
SELECT kind, DP_SAMPLE(mad(cost), 0, 1000) AS m FROM visits GROUP BY kind;

-- case: a sample of one unit's rows
-- outcome: refused D253 at 1:40
-- instead: SELECT AVG(m) FROM (SELECT patient_id, MEDIAN(age) AS m FROM patients GROUP BY patient_id)
SELECT AVG(m) FROM (SELECT patient_id, DP_SAMPLE(mad(age), 0, 60) AS m FROM patients GROUP BY patient_id);

-- case: a sample of public rows
-- outcome: refused D253 at 1:8
-- instead: SELECT skewness(beds) FROM wards
SELECT DP_SAMPLE(skewness(beds), -5, 5) FROM wards;

-- case: a sample of released rows
-- outcome: refused D253 at 1:8
-- instead: SELECT skewness(n) FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)
SELECT DP_SAMPLE(skewness(n), -5, 5) FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: a sample as a window
-- outcome: refused D254 at 1:8
-- instead: SELECT sex, DP_SAMPLE(skewness(age), -5, 5) FROM patients GROUP BY sex
SELECT DP_SAMPLE(skewness(age), -5, 5) OVER () FROM patients;
