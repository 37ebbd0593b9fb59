-- Queries over what is released already: ordinary SQL, and free.

-- case: the largest group
-- outcome: accepted
SELECT MAX(n) AS largest, MIN(n) AS smallest FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: a median over groups
-- outcome: accepted
SELECT MEDIAN(mean_cost) AS middle, STDDEV_POP(mean_cost) AS spread
FROM (SELECT place_id, AVG(cost) AS mean_cost FROM visits GROUP BY place_id);

-- case: groups gathered into coarser ones
-- outcome: accepted
SELECT sex, SUM(n) AS n FROM (SELECT sex, ward, COUNT(*) AS n FROM patients GROUP BY sex, ward) GROUP BY sex;

-- case: a list of released numbers
-- outcome: accepted
SELECT list(n ORDER BY kind) AS counts, string_agg(kind, ', ' ORDER BY kind) AS kinds
FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind);

-- case: the key with the largest number
-- outcome: accepted
SELECT arg_max(kind, cost) AS dearest FROM (SELECT kind, SUM(cost) AS cost FROM visits GROUP BY kind);

-- case: a release joined with a public table
-- outcome: accepted
SELECT w.ward, w.beds, s.n / w.beds AS load
FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS s JOIN wards w ON w.ward = s.ward
WHERE w.beds > 0;

-- case: a public table that keeps all its rows
-- outcome: accepted
SELECT w.ward, COALESCE(s.n, 0) AS n
FROM wards w LEFT JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS s ON s.ward = w.ward;

-- case: two releases crossed
-- outcome: accepted
SELECT a.n AS patients, b.n AS visits, b.n / a.n AS visits_each
FROM (SELECT COUNT(*) AS n FROM patients) AS a, (SELECT COUNT(*) AS n FROM visits) AS b;

-- case: two releases joined on their key
-- outcome: accepted
SELECT p.insured, p.n, o.amount
FROM (SELECT insured, COUNT(*) AS n FROM patients GROUP BY insured) AS p
FULL JOIN (
    SELECT insured, SUM(amount) AS amount
    FROM sales.orders JOIN patients USING (patient_id)
    GROUP BY insured
) AS o ON o.insured IS NOT DISTINCT FROM p.insured;

-- case: a union of releases
-- outcome: accepted
SELECT 'patients' AS what, COUNT(*) AS n FROM patients
UNION ALL
SELECT 'visits', COUNT(*) FROM visits
UNION ALL
SELECT 'orders', COUNT(*) FROM sales.orders;

-- case: a union of a release and a public table, ordered
-- outcome: accepted
SELECT ward AS name, COUNT(*) AS n FROM patients GROUP BY ward
UNION ALL
SELECT 'beds in ' || ward, beds FROM wards
ORDER BY name NULLS LAST;

-- case: keys in one release and not in another
-- outcome: accepted
SELECT ward FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)
EXCEPT
SELECT ward FROM wards;

-- case: a total beside each group
-- outcome: accepted
SELECT ward, COUNT(*) AS n, (SELECT COUNT(*) FROM patients) AS total FROM patients GROUP BY ward;

-- case: a share of a separate total
-- outcome: accepted
SELECT kind, SUM(cost) / (SELECT SUM(cost) FROM visits) AS share FROM visits GROUP BY kind;

-- case: releases as scalar subqueries without a FROM
-- outcome: accepted
SELECT (SELECT COUNT(*) FROM patients) AS patients, (SELECT AVG(cost) FROM visits) AS mean_cost;

-- case: a public table measured by a release
-- outcome: accepted
SELECT ward, beds FROM wards WHERE beds > (SELECT COUNT(*) / 5 FROM patients);

-- case: a pivot of a release
-- outcome: accepted
SELECT ward, MAX(n) FILTER (WHERE sex = 'F') AS women, MAX(n) FILTER (WHERE sex = 'M') AS men
FROM (SELECT ward, sex, COUNT(*) AS n FROM patients GROUP BY ward, sex)
GROUP BY ward;

-- case: subtotals of a release
-- outcome: accepted
SELECT sex, smoker, SUM(n) AS n
FROM (SELECT sex, smoker, COUNT(*) AS n FROM patients GROUP BY sex, smoker)
GROUP BY ROLLUP (sex, smoker);

-- case: EXISTS over a release
-- outcome: accepted
SELECT w.ward FROM wards w
WHERE EXISTS (SELECT 1 FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS s WHERE s.ward = w.ward AND s.n > 5);

-- case: a weighted mean of group means
-- outcome: accepted
SELECT SUM(mean_age * n) / SUM(n) AS mean_age FROM (SELECT sex, AVG(age) AS mean_age, COUNT(*) AS n FROM patients GROUP BY sex);
