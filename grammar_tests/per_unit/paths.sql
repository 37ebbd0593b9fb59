-- The texts of a unit's rows put together in an order: STRING_AGG.

-- case: who came for surgery right after a checkup
-- outcome: accepted
SELECT COUNT(*) AS patients
FROM (SELECT patient_id, STRING_AGG(kind, '>' ORDER BY visited_on, visit_id) AS path FROM visits GROUP BY patient_id)
WHERE path LIKE '%checkup>surgery%';

-- case: the usual paths
-- outcome: accepted
SELECT path, COUNT(*) AS patients
FROM (SELECT patient_id, STRING_AGG(left(kind, 1), '' ORDER BY visit_id) AS path FROM visits GROUP BY patient_id)
GROUP BY path;

-- case: how long a path is, with a comma between
-- outcome: accepted
SELECT SUM(LEAST(len(path), 100)) AS characters, COUNT(urgent) AS urgent, COUNT(none) AS none
FROM (
    SELECT patient_id, GROUP_CONCAT(kind ORDER BY visit_id) AS path, LISTAGG(kind, ', ' ORDER BY cost) FILTER (WHERE urgent) AS urgent,
        STRING_AGG(kind, '' ORDER BY cost) FILTER (WHERE cost < 0) AS none
    FROM visits GROUP BY patient_id
);

-- case: NULL is left out
-- outcome: accepted
SELECT drugs, COUNT(*) AS patients
FROM (SELECT v.patient_id, STRING_AGG(NULLIF(t.drug, 'placebo'), '+' ORDER BY t.drug DESC) AS drugs FROM treatments t JOIN visits v USING (visit_id) GROUP BY v.patient_id)
WHERE drugs IS NOT NULL GROUP BY drugs;

-- case: a path in HAVING
-- outcome: accepted
SELECT COUNT(*) AS patients
FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING starts_with(STRING_AGG(kind, '>' ORDER BY visit_id), 'checkup>'));
