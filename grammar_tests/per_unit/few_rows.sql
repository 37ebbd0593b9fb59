-- Rows of a unit that few values tell apart: no more than there are values, whatever the rows of its tables.

-- case: of a list and a truth
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id, kind, urgent FROM visits GROUP BY ALL);

-- case: of a list and a condition
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(v) AS visits
FROM (SELECT patient_id, kind, minutes > 20 AS long, COUNT(*) AS v FROM visits GROUP BY ALL);

-- case: of a list that a condition narrows
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id, kind FROM visits) WHERE kind IN ('surgery', 'therapy');

-- case: of two whole numbers
-- outcome: accepted
SELECT SUM(sqrt(1 + a % 2 + b)) AS s FROM (SELECT DISTINCT patient_id, minutes % 2 AS a, minutes // 240 AS b FROM visits);

-- case: days of a week
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id, visited_on FROM visits WHERE visited_on BETWEEN '2023-03-01' AND '2023-03-07');

-- case: the first two rows of each
-- outcome: accepted
SELECT COUNT(*) AS n, AVG(minutes) AS mean
FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) <= 2);

-- case: the first two of each kind, which is not kept
-- outcome: accepted
SELECT SUM(minutes) AS minutes FROM (
    SELECT minutes, ROW_NUMBER() OVER (PARTITION BY patient_id, kind ORDER BY visited_on, visit_id) AS place FROM visits
) WHERE place <= 2;

-- case: a rank that several rows share says nothing
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT * FROM visits QUALIFY RANK() OVER (PARTITION BY patient_id ORDER BY kind) = 1);

-- case: a key that is named
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits WHERE visit_id IN (101, 1000, 1010, 1011);

-- case: joined with what each row meets once, or with any number
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id, kind FROM visits) JOIN patients USING (patient_id) JOIN tariffs USING (kind);

-- case: counted for each unit, and counted again
-- outcome: accepted
SELECT SUM(kinds) AS kinds FROM (
    SELECT patient_id, COUNT(*) AS kinds FROM (SELECT DISTINCT patient_id, kind FROM visits) GROUP BY patient_id);

-- case: a numbered row of one side meets one of the other
-- outcome: accepted
WITH numbered AS (SELECT patient_id, minutes, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS place FROM visits)
SELECT SUM(b.minutes - a.minutes) AS more
FROM numbered a JOIN numbered b ON a.patient_id = b.patient_id AND a.place = b.place;

-- case: rows that rows of a shorter table lead to
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits v
WHERE EXISTS (SELECT 1 FROM treatments t WHERE t.visit_id = v.visit_id AND t.dose > 10);

-- case: beside sums that share a mass
-- outcome: accepted
SELECT SUM(spent + 1) AS more, SUM(COALESCE(spent, 30)) AS filled, SUM(CASE WHEN n > 1 THEN spent ELSE 15 END) AS often,
    SUM(LEAST(spent, 400)) AS capped
FROM (SELECT patient_id, visited_on, COUNT(*) AS n, SUM(minutes) AS spent FROM visits GROUP BY ALL);

-- case: no value that is declared is left
-- outcome: accepted
SELECT status, SUM(n) AS n FROM (
    SELECT patient_id, status, COUNT(*) AS n FROM sales.orders WHERE status = 'lost' GROUP BY patient_id, status
) GROUP BY status;
