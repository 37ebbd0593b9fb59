-- Subqueries grouped by a key of the rows, or along a path to the unit: each group is of one unit.

-- case: a mean over the rows of a key
-- outcome: accepted
SELECT AVG(n) AS drugs FROM (SELECT visit_id, COUNT(*) AS n FROM treatments GROUP BY visit_id);

-- case: with a column that hangs on it, by that column
-- outcome: accepted
WITH spent AS (
    SELECT v.visit_id, v.kind, SUM(t.dose) AS dose
    FROM visits v JOIN treatments t USING (visit_id) GROUP BY v.visit_id, v.kind
)
SELECT kind, SUM(dose) AS dose, COUNT(*) AS visits FROM spent GROUP BY kind;

-- case: a condition on its groups
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits
WHERE visit_id IN (SELECT visit_id FROM treatments GROUP BY visit_id HAVING COUNT(*) > 1);

-- case: distinct values of it
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT DISTINCT visit_id FROM treatments);

-- case: units of its groups
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) AS people FROM (
    SELECT v.patient_id, g.n FROM visits v JOIN (SELECT visit_id, COUNT(*) AS n FROM treatments GROUP BY visit_id) g
    ON g.visit_id = v.visit_id
) WHERE n > 1;
