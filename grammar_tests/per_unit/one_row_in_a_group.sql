-- Rows of which a unit has one in each group: it counts once there, so its groups and not its rows bound it.

-- case: distinct pairs of a unit and a value, by the value
-- outcome: accepted
SELECT kind, COUNT(*) AS people FROM (SELECT DISTINCT patient_id, kind FROM visits) GROUP BY kind;

-- case: sums of a unit and a group, by the group
-- outcome: accepted
SELECT kind, COUNT(*) AS people, AVG(n) AS visits
FROM (SELECT patient_id, kind, LEAST(COUNT(*), 10) AS n FROM visits GROUP BY patient_id, kind) GROUP BY kind;

-- case: by one of the two columns that tell a unit's rows apart
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (SELECT DISTINCT patient_id, kind, urgent FROM visits) GROUP BY kind;

-- case: by both of them
-- outcome: accepted
SELECT kind, urgent, COUNT(*) AS n FROM (SELECT DISTINCT patient_id, kind, urgent FROM visits) GROUP BY kind, urgent;

-- case: by something coarser
-- outcome: accepted
SELECT day <= DATE '2024-06-30' AS early, COUNT(*) AS days
FROM (SELECT DISTINCT patient_id, visited_on AS day FROM visits) GROUP BY 1;

-- case: all of them together
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id, kind FROM visits);

-- case: in a grouping set by the value, and in the total
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (SELECT DISTINCT patient_id, kind FROM visits) GROUP BY ROLLUP (kind);

-- case: beside rows that a public table makes of each
-- outcome: accepted
SELECT d.kind, COUNT(*) AS n
FROM (SELECT DISTINCT patient_id, kind FROM visits) d CROSS JOIN (SELECT floor FROM wards) w GROUP BY d.kind;

-- case: with Laplace noise
-- outcome: accepted
-- policy: pure.toml
SELECT kind, COUNT(*) AS people, SUM(n) AS visits
FROM (SELECT patient_id, kind, LEAST(COUNT(*), 9) AS n FROM visits GROUP BY patient_id, kind) GROUP BY kind;

-- case: where nobody knows how many rows a unit has
-- outcome: accepted
-- policy: finds.toml
SELECT kind, COUNT(*) AS people FROM (SELECT DISTINCT patient_id, kind FROM visits) GROUP BY kind;

-- case: the first visit of each kind
-- outcome: accepted
SELECT kind, SUM(minutes) AS minutes FROM (
    SELECT kind, minutes, ROW_NUMBER() OVER (PARTITION BY patient_id, kind ORDER BY visited_on) AS place FROM visits
) WHERE place = 1 GROUP BY kind;

-- case: the first visit of a unit, through two subqueries and a condition
-- outcome: accepted
SELECT kind, SUM(minutes) AS minutes FROM (
    SELECT k AS kind, m AS minutes, p FROM (
        SELECT kind AS k, minutes AS m, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on) AS p FROM visits
    )
) WHERE p <= 1 AND minutes IS NOT NULL GROUP BY kind;

-- case: the first of equals, which are many
-- outcome: accepted
SELECT kind, SUM(minutes) AS minutes FROM (
    SELECT kind, minutes, RANK() OVER (PARTITION BY patient_id, kind ORDER BY urgent) AS place FROM visits
) WHERE place = 1 GROUP BY kind;

-- case: the first of each kind of a unit, all together
-- outcome: accepted
SELECT SUM(minutes) AS minutes FROM (
    SELECT minutes, ROW_NUMBER() OVER (PARTITION BY patient_id, kind ORDER BY visited_on) AS place FROM visits
) WHERE place = 1;

-- case: a number that is one, of rows that are numbered
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT minutes AS place, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on) AS other FROM visits
) WHERE place = 1;
