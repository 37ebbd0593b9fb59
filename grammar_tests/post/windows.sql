-- Windows over released groups.

-- case: the share of the whole
-- outcome: accepted
SELECT ward, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM patients GROUP BY ward;

-- case: a rank
-- outcome: accepted
SELECT kind, SUM(cost) AS cost, RANK() OVER (ORDER BY SUM(cost) DESC) AS place FROM visits GROUP BY kind;

-- case: a running total
-- outcome: accepted
SELECT kind, n, SUM(n) OVER (ORDER BY kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far
FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind);

-- case: the change from the group before
-- outcome: accepted
SELECT place_id, n - LAG(n) OVER (ORDER BY place_id) AS change FROM (SELECT place_id, COUNT(*) AS n FROM visits GROUP BY place_id);

-- case: a rank within a key
-- outcome: accepted
SELECT sex, ward, ROW_NUMBER() OVER (PARTITION BY sex ORDER BY SUM(age), ward) AS place FROM patients GROUP BY sex, ward;

-- case: QUALIFY over groups
-- outcome: accepted
SELECT kind, urgent, SUM(cost) AS cost
FROM visits
GROUP BY kind, urgent
QUALIFY ROW_NUMBER() OVER (PARTITION BY kind ORDER BY SUM(cost) DESC, urgent) = 1;

-- case: a named window
-- outcome: accepted
SELECT ward, FIRST_VALUE(n) OVER w AS first_n, LAST_VALUE(ward) OVER w AS last_ward
FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)
WINDOW w AS (ORDER BY ward NULLS LAST ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING);
