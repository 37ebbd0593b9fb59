-- HAVING chooses among released groups, by released numbers.

-- case: a condition on a count
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward HAVING COUNT(*) > 11;

-- case: a condition on an aggregate that is not selected
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind HAVING SUM(minutes) > 1700;

-- case: a condition on an alias
-- outcome: accepted
SELECT ward, AVG(age) AS mean_age FROM patients GROUP BY ward HAVING mean_age > 47.2;

-- case: a condition on a key
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward HAVING ward IS NOT NULL AND ward <> 'A';

-- case: several aggregates compared
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind HAVING SUM(cost) > 4 * SUM(minutes) - 250 OR COUNT(urgent) > 25;

-- case: HAVING without GROUP BY
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients HAVING COUNT(*) > 10;

-- case: BETWEEN over a released number
-- outcome: accepted
SELECT place_id, COUNT(*) AS n FROM visits GROUP BY place_id HAVING COUNT(*) BETWEEN 18 AND 25;

-- case: FILTER inside HAVING
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM patients GROUP BY city HAVING COUNT(*) FILTER (WHERE sex = 'F') > 4;

-- case: a condition that no group meets
-- outcome: accepted
SELECT ward, SUM(income) AS income FROM patients GROUP BY ward HAVING SUM(income) < -1000000;

-- case: a rare group sought
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM patients GROUP BY city HAVING COUNT(*) = 1;

-- case: HAVING over a join
-- outcome: accepted
SELECT l.city, COUNT(DISTINCT v.patient_id) AS people
FROM visits v JOIN places l ON l.place_id = v.place_id
GROUP BY l.city
HAVING COUNT(DISTINCT v.patient_id) >= 20;

-- case: HAVING with a number from a public table
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward HAVING COUNT(*) > (SELECT MIN(beds) FROM wards);

-- case: HAVING with a release of its own
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind HAVING COUNT(*) * 4 > (SELECT COUNT(*) FROM visits);
