-- Keys that are computed from the same values: no combination is listed that no value has.

-- case: two of an age
-- outcome: accepted
SELECT age // 10 AS decade, age >= 18 AS adult, COUNT(*) AS n, AVG(income) AS income FROM patients GROUP BY ALL;

-- case: a year and its quarters
-- outcome: accepted
SELECT year(visited_on) AS y, date_trunc('quarter', visited_on) AS q, COUNT(*) AS n FROM visits GROUP BY ALL;

-- case: of the days of moments
-- outcome: accepted
SELECT date_trunc('year', seen_at) AS y, date_trunc('month', seen_at) AS m, COUNT(*) AS n FROM visits WHERE seen_at >= '2024-01-01' GROUP BY ALL;

-- case: a column and a text of it
-- outcome: accepted
SELECT ward, lower(ward) || '!' AS loud, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: a column of a range, and a part of it
-- outcome: accepted
SELECT age, age // 50 AS half, COUNT(*) AS n FROM patients WHERE age BETWEEN 40 AND 60 GROUP BY ALL;

-- case: three keys, two of them by way of the third
-- outcome: accepted
SELECT sex, CASE WHEN sex = 'F' AND ward = 'A' THEN 'x' ELSE 'y' END AS kind, ward, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: beside one of its own
-- outcome: accepted
SELECT insured, age // 40 AS a, age < 40 AS young, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: made in a subquery
-- outcome: accepted
SELECT decade, adult, COUNT(*) AS n FROM (
    SELECT age // 10 AS decade, age > 17 AS adult, ward FROM patients WHERE age < 60
) AS p WHERE ward IN ('A', 'B') GROUP BY decade, adult;

-- case: on both sides of a join
-- outcome: accepted
SELECT year(a.visited_on) AS one, quarter(b.visited_on) AS other, year(b.visited_on) AS another, COUNT(*) AS n
FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND b.visit_id > a.visit_id
WHERE year(a.visited_on) >= 2024 AND year(b.visited_on) >= 2024 GROUP BY ALL;

-- case: of two rows of a column
-- outcome: accepted
SELECT a.minutes // 60 AS one, b.minutes // 60 AS other, COUNT(*) AS n
FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND b.visit_id > a.visit_id GROUP BY ALL;

-- case: of the side that may be missing
-- outcome: accepted
SELECT p.age // 30 AS a, p.age < 30 AS young, COUNT(*) AS n FROM visits v
LEFT JOIN (SELECT patient_id, age FROM patients WHERE age < 90) AS p ON p.patient_id = v.patient_id GROUP BY ALL;

-- case: rolled up
-- outcome: accepted
SELECT age // 20 AS a, CASE WHEN age < 20 THEN 'young' WHEN age < 60 THEN 'old' ELSE 'older' END AS c, COUNT(*) AS n
FROM patients GROUP BY ROLLUP (c, a);

-- case: and what a condition leaves of them
-- outcome: accepted
SELECT age // 10 AS decade, age % 10 AS digit, COUNT(*) AS n FROM patients WHERE age // 10 > age % 10 GROUP BY ALL;

-- case: groups of a person
-- outcome: accepted
SELECT y, h, COUNT(*) AS people FROM (
    SELECT patient_id, year(visited_on) AS y, month(visited_on) > 6 AS h, COUNT(*) AS n FROM visits GROUP BY ALL
) AS p GROUP BY y, h;

-- case: medians
-- outcome: accepted
SELECT age >= 65 AS old, age // 65 AS a, MEDIAN(income) AS income FROM patients GROUP BY ALL;
