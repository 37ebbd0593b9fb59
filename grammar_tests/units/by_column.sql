-- A unit without a table: each value of patient_id is a patient, and NULL is nobody.

-- case: rows and people of a log
-- policy: by_column.toml
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS people, SUM(cost) AS cost FROM visits;

-- case: people by kind of visit
-- policy: by_column.toml
-- outcome: accepted
SELECT kind, COUNT(DISTINCT patient_id) AS people, AVG(minutes) AS minutes FROM visits GROUP BY kind;

-- case: what each one spends
-- policy: by_column.toml
-- outcome: accepted
SELECT AVG(LEAST(spent, 10000)) AS spent, COUNT(*) AS people
FROM (SELECT patient_id, SUM(cost) AS spent FROM visits GROUP BY patient_id);

-- case: two logs of the same people
-- policy: by_column.toml
-- outcome: accepted
SELECT v.kind, COUNT(*) AS n, SUM(o.amount) AS amount
FROM visits v JOIN sales.orders o ON v.patient_id = o.patient_id GROUP BY v.kind;

-- case: along a foreign key to a log
-- policy: by_column.toml
-- outcome: accepted
SELECT kind, COUNT(*) AS n, SUM(dose) AS dose FROM treatments JOIN visits USING (visit_id) GROUP BY kind;

-- case: the first visit of each one
-- policy: by_column.toml
-- outcome: accepted
SELECT kind, COUNT(*) AS n
FROM (SELECT kind, row_number() OVER (PARTITION BY patient_id ORDER BY seen_at) AS nth FROM visits) WHERE nth = 1
GROUP BY kind;

-- case: those of one log who are not in the other
-- policy: by_column.toml
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) AS people FROM visits
WHERE patient_id NOT IN (SELECT patient_id FROM sales.refunds WHERE patient_id IS NOT NULL);

-- case: groups behind a threshold
-- policy: by_column.toml
-- outcome: accepted
SELECT place_id, COUNT(*) AS n FROM visits GROUP BY place_id;

-- case: with the names of public places
-- policy: by_column.toml
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM visits JOIN places USING (place_id) GROUP BY city;
