-- Keys that are expressions, of which a condition says which values they have: these are listed.

-- case: a list
-- outcome: accepted
SELECT upper(city) AS town, COUNT(*) AS n, AVG(age) AS years FROM patients WHERE upper(city) IN ('OSLO', 'BERGEN', 'ROME') GROUP BY town;

-- case: one value of a part of a text, and a column beside it
-- outcome: accepted
SELECT substring(city, 1, 1) AS initial, sex, COUNT(*) AS n FROM patients WHERE substring(city, 1, 1) = 'O' GROUP BY ALL;

-- case: one or the other
-- outcome: accepted
SELECT lower(city) AS c, SUM(children) AS children FROM patients WHERE lower(city) = 'oslo' OR lower(city) = 'bergen' GROUP BY c;

-- case: two of the years of a declared range
-- outcome: accepted
SELECT year(seen_at) AS y, COUNT(*) AS n, SUM(cost) AS cost FROM visits WHERE year(seen_at) IN (2023, 2024) GROUP BY y;

-- case: from a year on
-- outcome: accepted
SELECT year(visited_on) AS y, COUNT(DISTINCT patient_id) AS people FROM visits WHERE year(visited_on) >= 2024 GROUP BY y;

-- case: months up to a day
-- outcome: accepted
SELECT date_trunc('month', visited_on) AS m, COUNT(*) AS n FROM visits WHERE date_trunc('month', visited_on) < DATE '2020-04-01' GROUP BY m;

-- case: a length, which no declaration bounds
-- outcome: accepted
SELECT length(city) AS l, COUNT(*) AS n FROM patients WHERE length(city) BETWEEN 3 AND 9 GROUP BY l;

-- case: a condition that all rows meet
-- outcome: accepted
SELECT age >= 18 AS adult, COUNT(*) AS n FROM patients WHERE age >= 18 GROUP BY adult;

-- case: below the SELECT that groups
-- outcome: accepted
SELECT initial, COUNT(*) AS n FROM (
    SELECT left(city, 1) AS initial, age FROM patients WHERE left(city, 1) IN ('O', 'B')
) AS p WHERE age > 20 GROUP BY initial;

-- case: of one side of a join
-- outcome: accepted
SELECT upper(p.city) AS town, COUNT(*) AS n FROM visits v
JOIN (SELECT patient_id, city FROM patients WHERE upper(city) IN ('OSLO', 'BERGEN')) AS p ON p.patient_id = v.patient_id
GROUP BY town;

-- case: in the condition of a join
-- outcome: accepted
SELECT upper(p.city) AS town, SUM(v.minutes) AS minutes FROM visits v
JOIN patients p ON p.patient_id = v.patient_id AND upper(p.city) IN ('OSLO', 'BERGEN') GROUP BY town;

-- case: of the side that an outer join may leave empty: the key may be NULL
-- outcome: accepted
SELECT upper(p.city) AS town, COUNT(*) AS n FROM visits v
LEFT JOIN (SELECT patient_id, city FROM patients WHERE upper(city) IN ('OSLO', 'BERGEN')) AS p ON p.patient_id = v.patient_id
GROUP BY town;

-- case: another expression, which says nothing
-- outcome: accepted
SELECT lower(city) AS c, COUNT(*) AS n FROM patients WHERE upper(city) IN ('OSLO', 'BERGEN') GROUP BY c;

-- case: what it is not
-- outcome: accepted
SELECT upper(city) AS c, COUNT(*) AS n FROM patients WHERE upper(city) NOT IN ('OSLO', 'BERGEN') GROUP BY c;

-- case: two groups of a person's
-- outcome: accepted
SELECT initial, COUNT(*) AS people FROM (
    SELECT v.patient_id, left(p.city, 1) AS initial, COUNT(*) AS visits FROM visits v JOIN patients p USING (patient_id)
    WHERE left(p.city, 1) IN ('O', 'B') GROUP BY ALL
) AS t GROUP BY initial;

-- case: with subtotals
-- outcome: accepted
SELECT upper(city) AS town, sex, COUNT(*) AS n FROM patients WHERE upper(city) IN ('OSLO', 'BERGEN') GROUP BY ROLLUP (town, sex);
