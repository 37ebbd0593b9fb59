-- Spreads and lines of one unit's rows: exact functions of the rows, in whatever order.

-- case: the spread of each patient's visits
-- outcome: accepted
SELECT AVG(v) AS variance, AVG(d) AS deviation FROM
    (SELECT patient_id, VAR_POP(minutes) AS v, STDDEV_SAMP(minutes) AS d FROM visits GROUP BY patient_id);

-- case: spreads of floats
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id, STDDEV(cost) AS d, VAR_SAMP(cost) AS v FROM visits GROUP BY patient_id)
WHERE d > 10 OR v IS NULL;

-- case: the line of each patient
-- outcome: accepted
SELECT AVG(GREATEST(LEAST(slope, 50), -50)) AS slope, AVG(GREATEST(LEAST(i, 5000), -5000)) AS intercept, AVG(r2) AS r2 FROM
    (SELECT patient_id, REGR_SLOPE(cost, minutes) AS slope, REGR_INTERCEPT(cost, minutes) AS i, REGR_R2(cost, minutes) AS r2
    FROM visits GROUP BY patient_id);

-- case: the sums behind the line of each patient
-- outcome: accepted
SELECT SUM(n) AS n, AVG(mx) AS mx, AVG(my) AS my, AVG(LEAST(xx, 100000)) AS xx, AVG(GREATEST(LEAST(xy, 100000), -1000)) AS xy FROM
    (SELECT patient_id, REGR_COUNT(cost, minutes) AS n, REGR_AVGX(cost, minutes) AS mx, REGR_AVGY(cost, minutes) AS my,
    REGR_SXX(cost, minutes) AS xx, REGR_SXY(cost, minutes) AS xy FROM visits GROUP BY patient_id);

-- case: the correlation of each patient
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id, CORR(cost, minutes) AS r, COVAR_SAMP(cost, minutes) AS c FROM visits GROUP BY patient_id
    HAVING COUNT(*) > 2) WHERE r > 0.5 AND c > 10;

-- case: a spread in a window
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id, STDDEV_POP(cost) OVER (PARTITION BY patient_id) AS s,
    VAR_SAMP(minutes) FILTER (WHERE urgent) OVER (PARTITION BY patient_id ORDER BY visit_id) AS t FROM visits) WHERE s > 10 OR t > 3;

-- case: sums of distinct floats
-- outcome: accepted
SELECT SUM(s) AS total, AVG(a) AS mean FROM
    (SELECT patient_id, SUM(DISTINCT cost) AS s, AVG(DISTINCT cost) AS a FROM visits GROUP BY patient_id);

-- case: the variance of distinct values
-- outcome: accepted
SELECT AVG(v) AS variance FROM
    (SELECT patient_id, VAR_POP(minutes) AS v FROM (SELECT DISTINCT patient_id, minutes FROM visits) GROUP BY patient_id);
