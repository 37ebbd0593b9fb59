-- The ends of a released number's interval. They lie around it whatever the noise, which these cases ask.

-- case: both ends beside a count
-- outcome: accepted
-- plain: SELECT ward, COUNT(*) AS n, true AS held FROM patients GROUP BY ward
SELECT ward, COUNT(*) AS n, n BETWEEN DP_INTERVAL_LOW(n) AND DP_INTERVAL_HIGH(n) AS held FROM patients GROUP BY ward;

-- case: the ends themselves
-- outcome: accepted
-- oracle: no-meaning (plain DuckDB has no noise)
-- plain: SELECT ward, COUNT(*) AS n, 0.0 AS "dp_interval_low(n)", 0.0 AS "dp_interval_high(n)" FROM patients GROUP BY ward
SELECT ward, COUNT(*) AS n, DP_INTERVAL_LOW(n), DP_INTERVAL_HIGH(n) FROM patients GROUP BY ward;

-- case: of an aggregate without an alias
-- outcome: accepted
-- plain: SELECT SUM(cost) AS s, true AS held FROM visits
SELECT SUM(cost) AS s, DP_INTERVAL_LOW(SUM(cost)) <= SUM(cost) AS held FROM visits;

-- case: of an average, whose ends are not equally far
-- outcome: accepted
-- plain: SELECT AVG(age) AS a, true AS held FROM patients
SELECT AVG(age) AS a, coalesce(dp_interval_high(a) >= a, true) AS held FROM patients;

-- case: of arithmetic
-- outcome: accepted
-- plain: SELECT COUNT(*) * 2 AS twice, true AS held FROM visits
SELECT COUNT(*) * 2 AS twice, DP_INTERVAL_HIGH(twice) - twice > 0 AS held FROM visits;

-- case: groups chosen by their lower end
-- outcome: accepted
-- plain: SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind HAVING DP_INTERVAL_LOW(n) < n ORDER BY DP_INTERVAL_HIGH(n), kind;

-- case: of a private group's count
-- outcome: accepted
-- plain: SELECT city, COUNT(*) AS n, true AS held FROM patients GROUP BY city
SELECT city, COUNT(*) AS n, DP_INTERVAL_LOW(n) <= n AS held FROM patients GROUP BY city;

-- case: of a column that a subquery passes through
-- outcome: accepted
-- plain: SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind ORDER BY n DESC, kind
SELECT kind, n FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) AS s
WHERE DP_INTERVAL_LOW(s.n) < n ORDER BY n DESC, kind;

-- case: of a column that a CTE renames
-- outcome: accepted
-- plain: SELECT ward, COUNT(*) AS m, true AS held FROM patients GROUP BY ward
WITH sizes(w, m) AS (SELECT ward, COUNT(*) FROM patients GROUP BY ward)
SELECT w AS ward, m, DP_INTERVAL_HIGH(m) > m AS held FROM sizes;

-- case: of both sides of a join
-- outcome: accepted
-- plain: SELECT ward, COUNT(*) AS n, SUM(age) AS s, true AS held FROM patients GROUP BY ward
SELECT a.ward, n, s, DP_INTERVAL_LOW(b.s) < DP_INTERVAL_HIGH(a.n) + s AS held
FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS a
JOIN (SELECT ward, SUM(age) AS s FROM patients GROUP BY ward) AS b ON a.ward IS NOT DISTINCT FROM b.ward;

-- case: of releases put under each other
-- outcome: accepted
-- plain: SELECT 'patients' AS what, COUNT(*) AS n, true AS held FROM patients UNION ALL SELECT 'visits', COUNT(*), true FROM visits
SELECT what, n, DP_INTERVAL_LOW(n) < n AS held
FROM (SELECT 'patients' AS what, COUNT(*) AS n FROM patients UNION SELECT 'visits', COUNT(*) FROM visits);

-- case: of a key of an outer GROUP BY
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n, true AS held FROM visits
SELECT n, DP_INTERVAL_LOW(n) < n AS held FROM (SELECT COUNT(*) AS n FROM visits) GROUP BY n;

-- case: among released windows
-- outcome: accepted
-- plain: SELECT kind, RANK() OVER (ORDER BY COUNT(*)) AS place, true AS held FROM visits GROUP BY kind
SELECT kind, RANK() OVER (ORDER BY n) AS place, DP_INTERVAL_LOW(n) < n AS held
FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind);

-- case: of a view's released column
-- outcome: accepted
-- plain: SELECT ward, n, true AS held FROM ward_sizes
SELECT ward, n, DP_INTERVAL_LOW(n) < n AS held FROM ward_sizes;

-- case: handed down to private rows
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM patients WHERE age < (SELECT AVG(age) + 1000 FROM patients)
SELECT COUNT(*) AS n FROM patients WHERE age < (SELECT DP_INTERVAL_HIGH(COUNT(*)) + 1000 FROM patients);

-- case: of arithmetic over what is counted and chosen
-- outcome: accepted
-- oracle: no-meaning (the median is a bin's)
-- plain: SELECT COUNT(DISTINCT kind) * 2 AS twice, MEDIAN(minutes) / 60 AS hours, true AS held FROM visits
SELECT COUNT(DISTINCT kind) * 2 AS twice, MEDIAN(minutes) / 60 AS hours, DP_INTERVAL_LOW(twice) <= twice AS held
FROM visits;
