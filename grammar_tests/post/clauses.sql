-- Clauses of SQL over what is released: DuckDB's own.

-- case: a named window over groups
-- outcome: accepted
SELECT ward, COUNT(*) AS n, RANK() OVER w AS place FROM patients GROUP BY ward WINDOW w AS (ORDER BY COUNT(*) DESC);

-- case: one named window made from another
-- outcome: accepted
SELECT sex, ward, SUM(COUNT(*)) OVER w AS of_sex, AVG(COUNT(*)) OVER (w ORDER BY ward) AS so_far
FROM patients GROUP BY ward, sex WINDOW w AS (PARTITION BY sex);

-- case: a named window over a released table
-- outcome: accepted
SELECT kind, n, SUM(n) OVER w AS running, n - LAG(n, 1, 0) OVER w AS more
FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) WINDOW w AS (ORDER BY kind);

-- case: the largest group of each
-- outcome: accepted
SELECT sex, ward, COUNT(*) AS n FROM patients GROUP BY sex, ward
QUALIFY ROW_NUMBER() OVER (PARTITION BY sex ORDER BY n DESC, ward) = 1;

-- case: a rank of an outer query as a filter
-- outcome: accepted
SELECT kind, urgent, cost FROM (SELECT kind, urgent, SUM(cost) AS cost FROM visits GROUP BY ALL)
QUALIFY DENSE_RANK() OVER (PARTITION BY kind ORDER BY cost DESC) = 1;

-- case: releases united by the names of their columns
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward
UNION ALL BY NAME
SELECT COUNT(*) AS n, kind FROM visits GROUP BY kind;

-- case: a release and a public table united by name
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward UNION BY NAME SELECT floor, ward FROM wards;

-- case: one row for each value, the first in order
-- outcome: accepted
SELECT DISTINCT ON (sex) sex, ward, n
FROM (SELECT ward, sex, COUNT(*) AS n FROM patients GROUP BY ward, sex) ORDER BY sex, n DESC, ward;

-- case: half of the groups
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients WHERE ward IS NOT NULL GROUP BY ward ORDER BY ward LIMIT 50%;

-- case: a quarter of the public rows
-- outcome: accepted
SELECT place_id FROM places ORDER BY place_id LIMIT 25 PERCENT;

-- case: the first groups in another spelling
-- outcome: accepted
SELECT kind, AVG(minutes) AS minutes FROM visits GROUP BY kind ORDER BY kind FETCH FIRST 2 ROWS ONLY;

-- case: ordered by everything, backwards
-- outcome: accepted
SELECT ward, beds FROM wards JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) USING (ward) ORDER BY ALL DESC;

-- case: NULL first
-- outcome: accepted
SELECT city, SUM(income) AS income FROM patients GROUP BY city ORDER BY city DESC NULLS FIRST;

-- case: aliases used beside their makers
-- outcome: accepted
SELECT ward, n, n * 2 AS twice, twice + 1 AS more FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: totals and subtotals of a release
-- outcome: accepted
SELECT sex, ward, SUM(n) AS n FROM (SELECT ward, sex, COUNT(*) AS n FROM patients GROUP BY ALL)
GROUP BY ROLLUP (sex, ward);

-- case: a number above all the others
-- outcome: accepted
SELECT kind FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind)
WHERE n + 1 >= ALL (SELECT COUNT(*) FROM visits GROUP BY kind);

-- case: a number above any bed count
-- outcome: accepted
SELECT ward FROM (SELECT ward, AVG(age) AS mean_age FROM patients GROUP BY ward)
WHERE mean_age > ANY (SELECT beds FROM wards);

-- case: lists and their parts
-- outcome: accepted
SELECT l[1] AS first, l[1:2] AS two, list_sum(l) AS total, len(l) AS length, list_max(l) AS largest
FROM (SELECT list(n ORDER BY kind) AS l FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind));

-- case: a list of aggregates as rows
-- outcome: accepted
SELECT ward, unnest(l) AS number FROM (SELECT ward, [COUNT(*), SUM(age)] AS l FROM patients GROUP BY ward);

-- case: a field of a struct
-- outcome: accepted
SELECT s['n'] AS n, s.ward AS ward
FROM (SELECT {'ward': ward, 'n': n} AS s FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward));

-- case: the shape of a released distribution
-- outcome: accepted
SELECT MEDIAN(n) AS middle, QUANTILE_CONT(n, [0.25, 0.75]) AS quartiles, STDDEV_SAMP(n) AS spread,
    PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY n) AS high, APPROX_COUNT_DISTINCT(kind) AS kinds
FROM (SELECT kind, SUM(minutes) AS n FROM visits GROUP BY kind);

-- case: a dashboard's way to write it
-- outcome: accepted
SELECT "source"."ward" AS "ward", "source"."n" AS "n"
FROM (
    SELECT "main"."patients"."ward" AS "ward", COUNT(*) AS "n" FROM "main"."patients" GROUP BY "main"."patients"."ward"
) AS "source"
WHERE ("source"."n" > 2 AND ("source"."ward" = 'A' OR "source"."ward" = 'B')) LIMIT 2000;

-- case: shares, running totals and moving means by quarter
-- outcome: accepted
SELECT q, n / SUM(n) OVER () AS share, SUM(n) OVER (ORDER BY q) AS so_far,
    AVG(n) OVER (ORDER BY q ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS before
FROM (
    SELECT date_trunc('quarter', visited_on) AS q, COUNT(*) AS n
    FROM visits
    WHERE visited_on BETWEEN '2022-01-01' AND '2024-09-30'  -- every quarter of it appears
    GROUP BY 1
)
ORDER BY q;

-- case: steps of a funnel, named one by one
-- outcome: accepted
WITH a AS MATERIALIZED (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward),
    b(ward, room) AS NOT MATERIALIZED (SELECT ward, beds FROM wards),
    c AS (SELECT ward, n, n / NULLIF(room, 0) AS load FROM a JOIN b USING (ward))
SELECT * EXCLUDE (n), RANK() OVER (ORDER BY load DESC, ward) AS place FROM c QUALIFY place <= 2;

-- case: a public number looked up for each group
-- outcome: accepted
SELECT p.ward, (SELECT MAX(beds) FROM wards w WHERE w.ward = p.ward) - COUNT(*) AS free FROM patients p GROUP BY p.ward;

-- case: groups that a public table lists, each looked up
-- outcome: accepted
SELECT p.ward, AVG(p.age) AS age FROM patients p GROUP BY p.ward
HAVING EXISTS (SELECT 1 FROM wards w WHERE w.ward = p.ward AND w.beds > 15);

-- case: numbers that a public table lists
-- outcome: accepted
SELECT p.sex, COUNT(*) IN (SELECT beds FROM wards) AS listed FROM patients p
GROUP BY p.sex HAVING p.sex IN (SELECT 'F' UNION ALL SELECT 'M');

-- case: one group for each value, the first in order
-- outcome: accepted
SELECT DISTINCT ON (sex) sex, ward, COUNT(*) AS n FROM patients GROUP BY sex, ward ORDER BY sex, n DESC, ward;

-- case: distinct numbers
-- outcome: accepted
SELECT DISTINCT COUNT(*) > 3 AS many FROM patients GROUP BY ward;

-- case: hours of another time zone
-- outcome: accepted
SELECT hour(m AT TIME ZONE 'UTC') IS NOT NULL AS known, n
FROM (SELECT date_trunc('month', seen_at) AS m, COUNT(*) AS n FROM visits GROUP BY 1);
