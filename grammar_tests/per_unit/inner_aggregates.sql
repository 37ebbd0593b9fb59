-- An aggregate by unit inside, which is still private, and an aggregate over all units outside.

-- case: visits per patient
-- outcome: accepted
SELECT AVG(n) AS mean_visits FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: a histogram of how often patients came
-- outcome: accepted
SELECT n, COUNT(*) AS patients FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY n;

-- case: the sum of each patient's mean
-- outcome: accepted
SELECT SUM(m) AS total FROM (SELECT patient_id, AVG(cost) AS m FROM visits GROUP BY patient_id);

-- case: the mean of each patient's dearest visit
-- outcome: accepted
SELECT AVG(dearest) AS mean_dearest FROM (SELECT patient_id, MAX(cost) AS dearest FROM visits GROUP BY patient_id);

-- case: the first and the last visit of each patient
-- outcome: accepted
SELECT AVG(date_diff('day', first_day, last_day)) AS mean_span
FROM (SELECT patient_id, MIN(visited_on) AS first_day, MAX(visited_on) AS last_day FROM visits GROUP BY patient_id);

-- case: each patient's range of minutes
-- outcome: accepted
SELECT SUM(longest - shortest) AS spread
FROM (SELECT patient_id, MAX(minutes) AS longest, MIN(minutes) AS shortest FROM visits GROUP BY patient_id);

-- case: the least of FLOATs is a FLOAT, not a DOUBLE near it
-- outcome: accepted
SELECT COUNT(*) AS patients
FROM (SELECT patient_id, MIN(CAST(minutes / 7 AS FLOAT)) AS least FROM visits GROUP BY patient_id)
WHERE CAST(least AS VARCHAR) LIKE '%_____5';

-- case: a condition on each patient's total
-- outcome: accepted
SELECT COUNT(*) AS dear_patients
FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id)
WHERE total > 500;

-- case: HAVING inside, by unit
-- outcome: accepted
SELECT COUNT(*) AS frequent FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3);

-- case: distinct units
-- outcome: accepted
SELECT COUNT(*) AS operated FROM (SELECT DISTINCT patient_id FROM visits WHERE kind = 'surgery');

-- case: distinct units with another column, several rows each
-- outcome: accepted
SELECT place_id, COUNT(*) AS people FROM (SELECT DISTINCT patient_id, place_id FROM visits) GROUP BY place_id;

-- case: a group by the unit and another column
-- outcome: accepted
SELECT kind, AVG(n) AS mean_visits
FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY patient_id, kind)
GROUP BY kind;

-- case: the unit under another name
-- outcome: accepted
SELECT SUM(spent) AS spent FROM (SELECT patient_id AS customer, SUM(amount) AS spent FROM sales.orders GROUP BY customer);

-- case: the unit not selected
-- outcome: accepted
SELECT AVG(spent) AS mean_spent FROM (SELECT SUM(amount) AS spent FROM sales.orders GROUP BY patient_id);

-- case: FILTER inside
-- outcome: accepted
SELECT SUM(urgent_visits) AS urgent, COUNT(*) AS people
FROM (SELECT patient_id, COUNT(*) FILTER (WHERE urgent) AS urgent_visits FROM visits GROUP BY patient_id);

-- case: a patient's column carried along by the group
-- outcome: accepted
SELECT ward, AVG(n) AS mean_visits
FROM (
    SELECT p.patient_id, p.ward, COUNT(v.visit_id) AS n
    FROM patients p LEFT JOIN visits v USING (patient_id)
    GROUP BY p.patient_id, p.ward
)
GROUP BY ward;

-- case: joined to the patients
-- outcome: accepted
SELECT p.sex, AVG(s.total) AS mean_total
FROM patients p JOIN (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) AS s ON s.patient_id = p.patient_id
GROUP BY p.sex;

-- case: two per-unit tables joined
-- outcome: accepted
SELECT SUM(v.cost + o.amount) AS money
FROM (SELECT patient_id, SUM(cost) AS cost FROM visits GROUP BY patient_id) AS v
JOIN (SELECT patient_id, SUM(amount) AS amount FROM sales.orders GROUP BY patient_id) AS o USING (patient_id);

-- case: a per-unit count that is zero for some
-- outcome: accepted
SELECT COALESCE(v.n, 0) AS visits, COUNT(*) AS patients
FROM patients p LEFT JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS v USING (patient_id)
GROUP BY visits;

-- case: the chain grouped by its unit
-- outcome: accepted
SELECT AVG(dose) AS mean_dose
FROM (
    SELECT v.patient_id, SUM(t.dose) AS dose
    FROM treatments t JOIN visits v ON v.visit_id = t.visit_id
    GROUP BY v.patient_id
);

-- case: an aggregate of an aggregate by unit
-- outcome: accepted
SELECT AVG(most) AS mean_most
FROM (
    SELECT patient_id, MAX(n) AS most
    FROM (SELECT patient_id, place_id, COUNT(*) AS n FROM visits GROUP BY patient_id, place_id)
    GROUP BY patient_id
);

-- case: a category made per unit
-- outcome: accepted
SELECT CASE WHEN n >= 3 THEN 'often' ELSE 'seldom' END AS how_often, COUNT(*) AS patients, SUM(total) AS cost
FROM (SELECT patient_id, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY patient_id)
GROUP BY how_often;

-- case: distinct visits of each patient's days
-- outcome: accepted
SELECT COUNT(*) AS days FROM (SELECT DISTINCT patient_id, visited_on FROM visits WHERE visited_on IS NOT NULL);

-- case: a group by the unit over a union
-- outcome: accepted
SELECT AVG(total) AS mean_total
FROM (
    SELECT patient_id, SUM(amount) AS total
    FROM (SELECT patient_id, cost AS amount FROM visits UNION ALL SELECT patient_id, amount FROM sales.orders)
    GROUP BY patient_id
);

-- case: filters that bound what is added up
-- outcome: accepted
SELECT AVG(cheap) AS cheap, SUM(LEAST(longest, 90)) AS longest, COUNT(cheap) AS n
FROM (
    SELECT patient_id, SUM(cost) FILTER (WHERE cost < 120) AS cheap,
        MAX(minutes) FILTER (WHERE minutes BETWEEN 10 AND 60 AND kind <> 'surgery') AS longest
    FROM visits GROUP BY patient_id
);
