-- Keys that are columns of one row of a public table: its own combinations are listed, and no others.

-- case: the key of a table, and what hangs on it
-- outcome: accepted
SELECT p.place_id, p.kind, p.city, COUNT(*) AS n FROM visits v JOIN places p ON p.place_id = v.place_id GROUP BY ALL;

-- case: a private column that is equal to the key
-- outcome: accepted
SELECT v.place_id, p.kind, COUNT(*) AS n FROM visits v JOIN places p USING (place_id) GROUP BY v.place_id, p.kind;

-- case: equal by WHERE
-- outcome: accepted
SELECT v.place_id, p.city, COUNT(DISTINCT v.patient_id) AS people
FROM visits v, places p WHERE v.place_id = p.place_id GROUP BY v.place_id, p.city;

-- case: columns that are no key
-- outcome: accepted
SELECT p.kind, p.city, AVG(v.minutes) AS minutes FROM visits v JOIN places p USING (place_id) GROUP BY p.kind, p.city;

-- case: where no row may be found
-- outcome: accepted
SELECT p.place_id, p.kind, COUNT(*) AS n FROM visits v LEFT JOIN places p USING (place_id) GROUP BY p.place_id, p.kind;

-- case: of a part of the table
-- outcome: accepted
SELECT p.place_id, p.kind, COUNT(*) AS n FROM visits v JOIN places p USING (place_id) WHERE p.kind <> 'clinic' GROUP BY ALL;

-- case: rolled up
-- outcome: accepted
SELECT p.city, p.place_id, COUNT(*) AS n FROM visits v JOIN places p USING (place_id) GROUP BY ROLLUP (p.city, p.place_id);

-- case: two rows of one table
-- outcome: accepted
SELECT p.kind, q.city, COUNT(*) AS n
FROM visits v JOIN places p ON p.place_id = v.place_id JOIN places q ON q.place_id = v.minutes % 6 GROUP BY p.kind, q.city;

-- case: beside a listed key
-- outcome: accepted
SELECT p.city, p.kind, v.kind AS what, COUNT(*) AS n FROM visits v JOIN places p USING (place_id) GROUP BY ALL;

-- case: named in a subquery, and grouped by the unit in between
-- outcome: accepted
SELECT town, what, COUNT(*) AS people FROM (
    SELECT v.patient_id, p.city AS town, p.kind AS what FROM visits v JOIN places p USING (place_id) GROUP BY ALL
) GROUP BY town, what;

-- case: an expression of one of them is no column of it
-- outcome: accepted
SELECT upper(p.kind) AS kind, p.city, COUNT(*) AS n FROM visits v JOIN places p USING (place_id) GROUP BY ALL;
