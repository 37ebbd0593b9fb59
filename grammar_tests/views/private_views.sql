-- Private views: counts of all combinations of some columns, bought once, asked without end.

-- case: a range and a value of a private view
-- outcome: accepted
SELECT SUM(n) AS n FROM headcounts WHERE age BETWEEN 20 AND 40 AND sex = 'F';

-- case: rows of a private view stand for n rows
-- outcome: accepted
-- plain: SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n FROM headcounts WHERE age >= 65
SELECT COUNT(*) AS n FROM headcounts WHERE age >= 65;

-- case: rows by a column, some of them, in order
-- outcome: accepted
-- plain: SELECT ward, SUM(n) AS k, COALESCE(SUM(n) FILTER (WHERE sex = 'F'), 0) AS f FROM headcounts GROUP BY ward
SELECT ward, COUNT(*) AS k, COUNT(*) FILTER (WHERE sex = 'F') AS f FROM headcounts GROUP BY ward ORDER BY k;

-- case: a mean over a private view weighs each row
-- outcome: accepted
SELECT sex, SUM(age * n) / SUM(n) AS age FROM headcounts GROUP BY sex;

-- case: shares of all rows of a private view
-- outcome: accepted
-- plain: SELECT sex, SUM(n) / SUM(SUM(n)) OVER () AS share FROM headcounts GROUP BY sex
SELECT sex, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM headcounts GROUP BY sex;

-- case: a private view joined with public rows
-- outcome: accepted
SELECT w.beds, SUM(h.n) AS n FROM headcounts h JOIN wards w USING (ward) GROUP BY w.beds;

-- case: a private view used twice
-- outcome: accepted
SELECT a.ward, a.n, t.n AS total
FROM (SELECT ward, SUM(n) AS n FROM headcounts GROUP BY ward) AS a, (SELECT SUM(n) AS n FROM headcounts) AS t;

-- case: the combinations themselves
-- outcome: accepted
SELECT age // 10 AS decade, sex, SUM(n) AS n FROM headcounts GROUP BY decade, sex ORDER BY decade, sex;

-- case: WITH hides a private view
-- outcome: accepted
WITH headcounts AS (SELECT ward, beds FROM wards) SELECT COUNT(*) AS n FROM headcounts;
