-- Order statistics: chosen among the bins of a public grid.

-- case: a median
-- outcome: accepted
SELECT MEDIAN(age) AS middle FROM patients;

-- case: a median by group
-- outcome: accepted
SELECT ward, MEDIAN(age) AS middle FROM patients GROUP BY ward;

-- case: medians of floats, some of them no number
-- outcome: accepted
SELECT MEDIAN(income) AS income, COUNT(income) AS n FROM patients;

-- case: medians by groups that are not public
-- outcome: accepted
SELECT city, MEDIAN(income) AS income FROM patients GROUP BY city;

-- case: medians of many rows per unit
-- outcome: accepted
SELECT kind, MEDIAN(cost) AS cost, MEDIAN(minutes) AS minutes FROM visits GROUP BY kind;

-- case: more rows of each unit
-- outcome: accepted
-- plain: SELECT MEDIAN(minutes) AS minutes FROM visits
SELECT OPTIONS(max_rows_contributed = 50) MEDIAN(minutes) AS minutes FROM visits;

-- case: a median of decimals
-- outcome: accepted
SELECT MEDIAN(height) AS centimetres FROM patients;

-- case: medians of days and moments
-- outcome: accepted
-- oracle: no-meaning (a moment is known to within a bin)
SELECT MEDIAN(born) AS born, QUANTILE_DISC(born, 0.5) AS day, MEDIAN(registered) AS registered FROM patients;

-- case: a median of a column bounded by its type alone
-- outcome: accepted
SELECT MEDIAN(children) AS children FROM patients;

-- case: three quarters in one step
-- outcome: accepted
-- oracle: no-meaning (between two rows every value is a quantile)
SELECT QUANTILE_CONT(age, 0.25) AS low, MEDIAN(age) AS middle, QUANTILE_CONT(age, 0.75) AS high FROM patients;

-- case: a list of quantiles
-- outcome: accepted
-- oracle: no-meaning (between two rows every value is a quantile)
SELECT sex, QUANTILE_CONT(cost, [0.1, 0.5, 0.9]) AS costs FROM patients JOIN visits USING (patient_id) GROUP BY sex;

-- case: a list of discrete quantiles within groups
-- outcome: accepted
-- oracle: no-meaning (between two rows every value is a quantile)
SELECT PERCENTILE_DISC([0.25, 0.5]) WITHIN GROUP (ORDER BY minutes) AS minutes FROM visits;

-- case: quantiles that are items of a list
-- outcome: accepted
-- oracle: no-meaning (between two rows every value is a quantile)
SELECT q[1] AS low, q[2] - q[1] AS apart FROM (SELECT QUANTILE_DISC(age, [0.25, 0.75]) AS q FROM patients);

-- case: a quantile in all its spellings
-- outcome: accepted
SELECT QUANTILE_CONT(age, 0.5) AS a, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) AS b,
    PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age DESC) AS c
FROM patients WHERE sex = 'F';

-- case: discrete quantiles in all their spellings
-- outcome: accepted
-- oracle: no-meaning (between two rows every value is a quantile)
SELECT QUANTILE_DISC(age, 0.9) AS a, QUANTILE(age, 0.9) AS b, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age) AS c,
    PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY age DESC NULLS LAST) AS d, APPROX_QUANTILE(age, 0.9) AS e
FROM patients;

-- case: a percentile as BigQuery writes it
-- outcome: accepted
-- plain: SELECT QUANTILE_CONT(LEAST(GREATEST(age, 0), 100), 0.5) AS q FROM patients
SELECT ANON_PERCENTILE_CONT(age, 0.5 CLAMPED BETWEEN 0 AND 100) AS q FROM patients;

-- case: medians with conditions
-- outcome: accepted
SELECT MEDIAN(age) FILTER (WHERE sex = 'F') AS women, MEDIAN(age) FILTER (WHERE smoker) AS smokers FROM patients;

-- case: a quantile with a condition in a window of values
-- outcome: accepted
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost) FILTER (WHERE minutes > 20) AS cost FROM visits WHERE cost < 300;

-- case: the range of a condition is the grid's
-- outcome: accepted
SELECT MEDIAN(steps) AS steps FROM visits WHERE steps BETWEEN 900 AND 1100;

-- case: a wide range of whole numbers
-- outcome: accepted
SELECT MEDIAN(LEAST(GREATEST(steps, 0), 100000000)) AS steps FROM visits;

-- case: a clamp that spans zero
-- outcome: accepted
SELECT MEDIAN(LEAST(GREATEST(income - 60000, -500000), 500000)) AS above FROM patients;

-- case: medians of groups and of all
-- outcome: accepted
SELECT ward, sex, MEDIAN(age) AS middle FROM patients GROUP BY ROLLUP (ward, sex);

-- case: groups chosen and ordered by their medians
-- outcome: accepted
SELECT ward, MEDIAN(age) AS middle, COUNT(*) AS n FROM patients GROUP BY ward HAVING MEDIAN(age) > 20 ORDER BY middle;

-- case: a median above a median
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE age > (SELECT MEDIAN(age) FROM patients) + 0.75;

-- case: a median of what each unit has
-- outcome: accepted
SELECT MEDIAN(n) AS visits FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: a median under pure privacy
-- outcome: accepted
-- policy: pure.toml
SELECT sex, MEDIAN(age) AS middle FROM patients GROUP BY sex;

-- case: distances between a median and its ends
-- outcome: accepted
-- plain: SELECT MEDIAN(age) AS m, true AS inside FROM patients
SELECT MEDIAN(age) AS m, COALESCE(m BETWEEN DP_INTERVAL_LOW(m) AND DP_INTERVAL_HIGH(m), true) AS inside FROM patients;

-- case: quantiles per unit
-- outcome: accepted
SELECT AVG(LEAST(q, 300)) AS high, AVG(d) AS middle FROM (
    SELECT patient_id, QUANTILE_CONT(cost, 0.9) AS q, QUANTILE_DISC(minutes, 0.5) AS d FROM visits GROUP BY patient_id);

-- case: quantiles over a unit's window
-- outcome: accepted
SELECT AVG(q) AS q FROM (SELECT QUANTILE_DISC(minutes, 0.75) OVER (PARTITION BY patient_id) AS q FROM visits);
