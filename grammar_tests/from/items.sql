-- What may stand in FROM above the release, and public rows that need no table.

-- case: FROM alone
-- outcome: accepted
FROM tariffs;

-- case: FROM first, over private rows
-- outcome: accepted
FROM patients SELECT ward, COUNT(*) AS n WHERE smoker GROUP BY ward;

-- case: FROM first, over a release
-- outcome: accepted
FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) SELECT kind WHERE n > 3 ORDER BY kind;

-- case: written rows joined with a release
-- outcome: accepted
SELECT label, n FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)
JOIN (VALUES ('A', 'first'), ('B', 'second')) AS v(ward, label) USING (ward);

-- case: column lists for a subquery
-- outcome: accepted
SELECT a, b FROM (SELECT ward, COUNT(*) FROM patients GROUP BY ward) AS t(a, b) WHERE b > 1;

-- case: a natural join of a release with a public table
-- outcome: accepted
SELECT * FROM wards NATURAL JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: a natural join that keeps public rows
-- outcome: accepted
SELECT ward, n, beds FROM wards NATURAL LEFT JOIN (SELECT ward, SUM(age) AS n FROM patients GROUP BY ward) ORDER BY ward;

-- case: the nearest public row below a released number
-- outcome: accepted
SELECT g.sex, b.band FROM (SELECT sex, AVG(age) AS mean_age FROM patients GROUP BY sex) AS g
ASOF JOIN age_bands b ON g.mean_age >= b.low;

-- case: rows side by side
-- outcome: accepted
SELECT a.band, k.fee FROM (SELECT band FROM age_bands ORDER BY low) AS a
POSITIONAL JOIN (SELECT fee FROM tariffs ORDER BY fee LIMIT 3) AS k;

-- case: a subquery that reads its neighbour
-- outcome: accepted
SELECT ward, n, half FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS g, LATERAL (SELECT g.n / 2 AS half);

-- case: a lateral join that keeps its left side
-- outcome: accepted
SELECT w.ward, l.half FROM wards w LEFT JOIN LATERAL (SELECT w.beds / 2 AS half WHERE w.beds > 10) AS l ON true;

-- case: a list as rows beside a release
-- outcome: accepted
SELECT u.i, s.n FROM unnest([1, 2, 3]) AS u(i), (SELECT COUNT(*) AS n FROM patients) AS s;

-- case: a list of constants beside private rows
-- outcome: accepted
SELECT u.i, COUNT(*) AS n FROM patients JOIN unnest([18, 40, 65]) AS u(i) ON age >= u.i GROUP BY u.i;

-- case: a released list as rows
-- outcome: accepted
SELECT u.n FROM (SELECT list(n) AS l FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)) AS s
JOIN unnest(s.l) AS u(n) ON true;

-- case: public joins in parentheses
-- outcome: accepted
SELECT * FROM (wards JOIN places ON floor = place_id);

-- case: joins in parentheses with a name, beside a release
-- outcome: accepted
SELECT t.tag, s.n FROM (SELECT place_id, COUNT(*) AS n FROM visits GROUP BY place_id) AS s
JOIN (places JOIN place_tags USING (place_id)) AS t ON s.place_id = t.place_id;

-- case: days that are not there, counted as none
-- outcome: accepted
SELECT d.day, COALESCE(s.n, 0) AS n
FROM (SELECT (DATE '2024-01-01' + INTERVAL (i) DAY)::DATE AS day FROM range(3) AS r(i)) AS d
LEFT JOIN (SELECT visited_on, COUNT(*) AS n FROM visits GROUP BY 1) AS s ON s.visited_on = d.day;
