-- Keys of rows that conditions leave: those of a public table, and those of the same columns.

-- case: columns of the public rows that a condition leaves
-- outcome: accepted
SELECT p.city, p.kind, COUNT(*) AS n FROM visits JOIN places AS p USING (place_id) WHERE p.kind <> 'clinic' GROUP BY ALL;

-- case: a condition in ON, and one on the key itself
-- outcome: accepted
SELECT p.city, SUM(cost) AS cost FROM visits AS v JOIN places AS p ON v.place_id = p.place_id AND p.kind LIKE 'c%' WHERE p.city < 'P' GROUP BY p.city;

-- case: the joined column of the private table
-- outcome: accepted
SELECT v.place_id, COUNT(*) AS n FROM visits AS v JOIN places AS p ON v.place_id = p.place_id WHERE p.city = 'Oslo' GROUP BY v.place_id;

-- case: the empty side of an outer join meets no condition
-- outcome: accepted
SELECT p.city, COUNT(*) AS n FROM visits AS v LEFT JOIN places AS p ON v.place_id = p.place_id AND p.kind = 'clinic' GROUP BY p.city;

-- case: a condition on NULL of public rows
-- outcome: accepted
SELECT p.city, COUNT(*) AS n FROM visits JOIN places AS p USING (place_id) WHERE p.city IS NULL OR p.city = 'Bergen' GROUP BY p.city;

-- case: the same table twice, with a condition on one
-- outcome: accepted
SELECT a.city AS here, b.city AS there, COUNT(*) AS n FROM visits AS v JOIN places AS a ON v.place_id = a.place_id JOIN places AS b ON v.place_id % 3 + 1 = b.place_id WHERE a.kind = 'hospital' GROUP BY ALL;

-- case: within a unit, and above it
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM (SELECT patient_id, p.city FROM visits JOIN places AS p USING (place_id) WHERE p.kind = 'hospital' GROUP BY ALL) GROUP BY city;

-- case: a year of the months
-- outcome: accepted
SELECT date_trunc('month', visited_on) AS m, COUNT(*) AS n FROM visits WHERE year(visited_on) = 2024 AND month(visited_on) > 6 GROUP BY m;

-- case: of moments, whose hours say nothing of months
-- outcome: accepted
SELECT date_trunc('quarter', seen_at) AS q, COUNT(*) AS n FROM visits WHERE year(seen_at) = 2023 AND hour(seen_at) < 12 GROUP BY q;

-- case: a text
-- outcome: accepted
SELECT kind, AVG(cost) AS cost FROM visits WHERE kind LIKE '%er%' AND kind > 'f' GROUP BY kind;

-- case: a remainder
-- outcome: accepted
SELECT age, COUNT(*) AS n FROM patients WHERE age % 10 = 0 AND age NOT IN (20, 30) GROUP BY age;

-- case: pairs of one value where a condition holds
-- outcome: accepted
SELECT age // 10 AS decade, age >= 18 AS adult, COUNT(*) AS n FROM patients WHERE age % 7 = 3 GROUP BY ALL;

-- case: a condition beside OR is not one of the key
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients WHERE ward > 'B' OR smoker GROUP BY ward;

-- case: a column that another select renames
-- outcome: accepted
SELECT b, COUNT(*) AS n FROM (SELECT patient_id, sex AS ward, ward AS b FROM patients WHERE ward > 'B') WHERE ward = 'F' GROUP BY b;
