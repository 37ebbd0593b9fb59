-- Queries that read public tables only: exact answers, price zero.

-- case: all rows
-- outcome: accepted
SELECT * FROM wards;

-- case: no table at all
-- outcome: accepted
SELECT 1 + 1 AS two, 'x' || 'y' AS text;

-- case: rows in order
-- outcome: accepted
SELECT place_id, city FROM places WHERE kind = 'clinic' ORDER BY city NULLS FIRST LIMIT 2;

-- case: aggregates of every sort
-- outcome: accepted
SELECT MIN(beds) AS least, MAX(beds) AS most, MEDIAN(beds) AS middle, COUNT(DISTINCT floor) AS floors FROM wards;

-- case: public tables joined on anything
-- outcome: accepted
SELECT p.place_id, t.tag FROM places p LEFT JOIN place_tags t ON t.place_id >= p.place_id ORDER BY ALL;

-- case: a window over public rows
-- outcome: accepted
SELECT kind, fee, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY valid_from) AS version FROM tariffs;

-- case: subqueries of every sort
-- outcome: accepted
SELECT city FROM places p
WHERE EXISTS (SELECT 1 FROM place_tags t WHERE t.place_id = p.place_id) AND place_id <> (SELECT MAX(place_id) FROM places);

-- case: set operations
-- outcome: accepted
SELECT place_id FROM places EXCEPT SELECT place_id FROM place_tags ORDER BY place_id;

-- case: constants as a table
-- outcome: accepted
VALUES (1, 'one'), (2, 'two');

-- case: a range as a table
-- outcome: accepted
SELECT SUM(i) AS total FROM range(10) AS r(i);

-- case: a recursive query
-- outcome: accepted
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n * 2 FROM t WHERE n < 100) SELECT MAX(n) AS most FROM t;

-- case: an empty public table
-- outcome: accepted
SELECT COUNT(*) AS n, MAX(day) AS latest FROM holidays;

-- case: grouping sets of public rows
-- outcome: accepted
SELECT city, kind, COUNT(*) AS n FROM places GROUP BY GROUPING SETS ((city), (kind), ());
