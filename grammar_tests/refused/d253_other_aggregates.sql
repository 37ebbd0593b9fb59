-- D253, D251, D205: DuckDB's aggregates without an answer of their own; each names the nearest thing that has one.

-- case: a mean absolute deviation in one step
-- outcome: refused D253 at 1:8
-- instead: SELECT DP_SAMPLE(mad(age), 0, 100), QUANTILE_CONT(age, [0.25, 0.75]) FROM patients
SELECT mad(age) FROM patients;

-- case: an entropy by group
-- outcome: refused D253 at 1:14
-- instead: SELECT ward, DP_SAMPLE(entropy(age), 0, 10) FROM patients GROUP BY ward
SELECT ward, entropy(age) FROM patients GROUP BY ward;

-- case: a kurtosis with a condition
-- outcome: refused D253 at 1:8
-- instead: SELECT DP_SAMPLE(kurtosis(age), -3, 30) FILTER (WHERE smoker) FROM patients
SELECT kurtosis_pop(age) FILTER (WHERE smoker) FROM patients;

-- case: an entropy in HAVING
-- outcome: refused D253 at 1:48
-- instead: SELECT ward FROM patients GROUP BY ward HAVING DP_SAMPLE(entropy(age), 0, 10) > 2
SELECT ward FROM patients GROUP BY ward HAVING entropy(age) > 2;

-- case: an entropy in WHERE
-- outcome: refused D253 at 1:37
SELECT COUNT(*) FROM patients WHERE entropy(age) > 2;

-- case: the most frequent values
-- outcome: refused D253 at 1:8
-- instead: SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC, city LIMIT 3
SELECT approx_top_k(city, 3) FROM patients;

-- case: somebody's value under another name
-- outcome: refused D253 at 1:8
-- instead: SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC
SELECT arbitrary(city) FROM patients;

-- case: the value beside the largest, with NULLs
-- outcome: refused D253 at 1:8
-- instead: SELECT ward, AVG(income) AS y FROM patients GROUP BY ward ORDER BY y DESC LIMIT 1
SELECT arg_max_null(city, income) FROM patients;

-- case: a set of whole numbers as bits
-- outcome: refused D251 at 1:8
-- instead: SELECT COUNT(*) FILTER (WHERE age & 4 <> 0) AS n FROM patients
SELECT bitstring_agg(age, 0, 120) FROM patients;

-- case: a histogram of exact values
-- outcome: refused D253 at 1:8
-- instead: SELECT FLOOR(age / 10) AS step, COUNT(*) AS n FROM patients GROUP BY step
SELECT histogram_exact(age, [10, 20]) FROM patients;

-- case: a sum in another order
-- outcome: refused D253 at 1:8
-- instead: SELECT SUM(cost) FROM visits
SELECT kahan_sum(cost) FROM visits;

-- case: a sum that must not overflow
-- outcome: refused D253 at 1:8
-- instead: SELECT SUM(minutes) FROM visits
SELECT sum_no_overflow(minutes) FROM visits;

-- case: a weighted mean
-- outcome: refused D253 at 1:8
-- instead: SELECT SUM(cost * minutes) / SUM(minutes) AS mean FROM visits
SELECT weighted_avg(cost, minutes) FROM visits;

-- case: a geometric mean
-- outcome: refused D253 at 1:8
-- instead: SELECT EXP(AVG(LN(GREATEST(cost, 1)))) AS mean FROM visits
SELECT geomean(cost) FROM visits;

-- case: a standard error
-- outcome: refused D253 at 1:8
-- instead: SELECT STDDEV(age) / SQRT(COUNT(age)) AS error FROM patients
SELECT sem(age) FROM patients;

-- case: a quantile of some rows
-- outcome: refused D251 at 1:8
-- instead: SELECT QUANTILE_CONT(age, 0.9) FROM patients
SELECT reservoir_quantile(age, 0.9) FROM patients;

-- case: several quantiles at once
-- outcome: refused D253 at 1:8
-- instead: SELECT QUANTILE_CONT(age, 0.5) FROM patients
SELECT APPROX_QUANTILES(age, 4) FROM patients;

-- case: points to draw
-- outcome: refused D251 at 1:8
-- instead: SELECT date_trunc('month', registered) AS month, AVG(income) FROM patients GROUP BY month
SELECT lttb(registered, income, 10) FROM patients;

-- case: a count under another name
-- outcome: refused D253 at 1:8
-- instead: SELECT COUNT(*) FROM patients
SELECT count_star() FROM patients;

-- case: an object of values
-- outcome: refused D251 at 1:8
-- instead: SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC
SELECT variant_group_object(city, age) FROM patients;

-- case: an aggregate that looks like a scalar: the counts of all values
-- outcome: refused D253 at 1:8
-- instead: SELECT age, COUNT(*) AS n FROM patients GROUP BY age
SELECT histogram(age) FROM patients;

-- case: the counts of texts
-- outcome: refused D253 at 1:8
-- instead: SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward
SELECT histogram(ward) FROM patients;

-- case: an aggregate that looks like a scalar: a product
-- outcome: refused D253 at 1:8
SELECT product(age) FROM patients;

-- case: an aggregate that looks like a scalar: the entropy
-- outcome: refused D253 at 1:8
SELECT entropy(ward) FROM patients;

-- case: an aggregate that looks like a scalar: deviations from the median
-- outcome: refused D253 at 1:8
SELECT mad(income) FROM patients;

-- case: an aggregate that looks like a scalar: an aggregate that is a macro
-- outcome: refused D253 at 1:8
SELECT geomean(income) FROM patients;

-- case: a line through one argument
-- outcome: refused D205 at 1:8
-- instead: SELECT regr_slope(income, age) FROM patients
SELECT regr_slope(age) FROM patients;

-- case: the distinct values of a condition
-- outcome: refused D253 at 1:8
-- instead: SELECT COUNT(DISTINCT cost) FILTER (WHERE cost > 5) FROM visits
SELECT COUNT_IF(DISTINCT cost > 5) FROM visits;
