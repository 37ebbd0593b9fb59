-- Aggregates as BigQuery spells them, and their bounds.

-- case: a count, a sum and an average
-- outcome: accepted
-- plain: SELECT ward, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM patients GROUP BY ward
SELECT ward, ANON_COUNT(*) AS n, ANON_SUM(age) AS s, anon_avg(age) AS a FROM patients GROUP BY ward;

-- case: the newer prefix
-- outcome: accepted
-- plain: SELECT COUNT(city) AS n, SUM(cost) FILTER (WHERE urgent) AS s FROM visits JOIN patients USING (patient_id)
SELECT DP_COUNT(city) AS n, DP_SUM(cost) FILTER (WHERE urgent) AS s
FROM visits JOIN patients USING (patient_id);

-- case: units are counted
-- outcome: accepted
-- plain: SELECT kind, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY kind
SELECT kind, ANON_COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY kind;

-- case: clamped between bounds
-- outcome: accepted
-- plain: SELECT SUM(least(greatest(score, -10), 90)) FILTER (WHERE score IS NOT NULL) AS s FROM patients
SELECT ANON_SUM(score CLAMPED BETWEEN -10 AND 90) AS s FROM patients;

-- case: clamped in a plain sum, with others beside
-- outcome: accepted
-- plain: SELECT kind, SUM(CASE WHEN cost > 200.5 THEN 200.5 ELSE cost END) + 1 AS s, COUNT(*) AS n FROM visits GROUP BY kind
SELECT kind, SUM(cost CLAMPED BETWEEN 0 AND 200.5) + 1 AS s, COUNT(*) AS n FROM visits GROUP BY kind;

-- case: NULL is not clamped
-- outcome: accepted
-- plain: SELECT AVG(least(greatest(income + 0, 1000), 200000)) FILTER (WHERE income IS NOT NULL) AS a FROM patients
SELECT AVG((income + 0) CLAMPED BETWEEN 1000 AND 2e5) AS a FROM patients;

-- case: bounds for each group
-- outcome: accepted
-- plain: SELECT ward, SUM(least(greatest(score, 0), 100)) FILTER (WHERE score IS NOT NULL) AS s FROM patients GROUP BY ward
SELECT WITH DIFFERENTIAL_PRIVACY ward, SUM(score, contribution_bounds_per_group => (0, 100)) AS s
FROM patients GROUP BY ward;

-- case: bounds for each row
-- outcome: accepted
-- plain: SELECT AVG(least(greatest(cost * 2, .5), 300)) AS a FROM visits WHERE cost IS NOT NULL AND minutes BETWEEN 1 AND 400
SELECT AVG(cost * 2, contribution_bounds_per_row => (.5, 300)) FILTER (WHERE minutes BETWEEN 1 AND 400) AS a FROM visits;

-- case: a column that is called clamped
-- outcome: accepted
SELECT SUM(CASE WHEN clamped BETWEEN 0 AND 9 THEN 1 ELSE 0 END) AS few FROM (SELECT age AS clamped FROM patients) t;

-- case: bounds inside the work of one unit
-- outcome: accepted
-- plain: SELECT AVG(n) AS a FROM (SELECT patient_id, SUM(least(greatest(minutes, 0), 60)) AS n FROM visits GROUP BY patient_id)
SELECT AVG(n) AS a
FROM (SELECT patient_id, SUM(minutes CLAMPED BETWEEN 0 AND 60) AS n FROM visits GROUP BY patient_id);

-- case: a variance and a deviation
-- outcome: accepted
-- plain: SELECT VAR_POP(LEAST(GREATEST(age, 0), 100)), STDDEV_POP(age) FROM patients
SELECT ANON_VAR_POP(age CLAMPED BETWEEN 0 AND 100) AS variance, DP_STDDEV_POP(age) AS deviation FROM patients;
