-- Groups of one public key that are added up in its order: sums of runs of groups are measured in their place.

-- case: how many patients are of an age or younger
-- outcome: accepted
-- policy: pure.toml
SELECT age // 5 AS band, SUM(COUNT(*)) OVER (ORDER BY age // 5) AS younger FROM patients GROUP BY 1 ORDER BY 1;

-- case: years of age, each with its number
-- outcome: accepted
SELECT age // 1 AS years, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY age // 1) AS younger FROM patients GROUP BY 1;

-- case: parts of the whole
-- outcome: accepted
SELECT age // 1 AS years, 100.0 * SUM(COUNT(*)) OVER (ORDER BY age // 1) / NULLIF(SUM(COUNT(*)) OVER (), 0) AS percent
FROM patients GROUP BY 1;

-- case: many rows of a patient, from the last group on
-- outcome: accepted
SELECT minutes // 5 AS long, SUM(COUNT(*)) OVER (ORDER BY minutes // 5 DESC ROWS UNBOUNDED PRECEDING) AS longer
FROM visits GROUP BY 1;

-- case: the same without delta
-- outcome: accepted
-- policy: pure.toml
SELECT kind, SUM(COUNT(*)) OVER (ORDER BY kind) AS n, SUM(COUNT(DISTINCT patient_id)) OVER (ORDER BY kind) AS m
FROM visits GROUP BY kind;

-- case: sums in the order of time
-- outcome: accepted
SELECT year(visited_on) AS y, SUM(SUM(cost)) OVER (ORDER BY year(visited_on)) AS so_far FROM visits GROUP BY 1;

-- case: units in the order of time
-- outcome: accepted
SELECT year(visited_on) AS y, SUM(COUNT(DISTINCT patient_id)) OVER (ORDER BY year(visited_on)) AS so_far
FROM visits GROUP BY 1;

-- case: texts in order
-- outcome: accepted
SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n
FROM patients GROUP BY ward;
