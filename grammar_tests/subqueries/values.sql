-- Scalar subqueries among private rows: exact where they are tied to the unit, else released first.

-- case: a count per unit, 0 where there is nothing
-- outcome: accepted
SELECT AVG((SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id)) AS visits FROM patients p;

-- case: a mean per unit, compared
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE p.age > (SELECT AVG(v.minutes) FROM visits v WHERE v.patient_id = p.patient_id);

-- case: a sum per unit in the select list
-- outcome: accepted
SELECT p.ward, SUM((SELECT SUM(v.cost) FROM visits v WHERE v.patient_id = p.patient_id)) AS cost
FROM patients p GROUP BY p.ward;

-- case: arithmetic around the aggregates
-- outcome: accepted
SELECT SUM((SELECT 2 * COUNT(*) + COUNT(v.urgent) FROM visits v WHERE v.patient_id = p.patient_id)) AS n FROM patients p;

-- case: as a group key
-- outcome: accepted
SELECT (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id) AS visits, COUNT(*) AS n
FROM patients p GROUP BY visits;

-- case: tied by more than the unit
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE v.cost >= (SELECT MAX(w.cost) FROM visits w WHERE w.patient_id = v.patient_id AND w.kind = v.kind);

-- case: tied by a key that determines the unit
-- outcome: accepted
SELECT SUM((SELECT COUNT(*) FROM treatments t WHERE t.visit_id = v.visit_id)) AS treatments FROM visits v;

-- case: the one row of another table
-- outcome: accepted
SELECT SUM(v.minutes) AS minutes FROM visits v
WHERE (SELECT p.age FROM patients p WHERE p.patient_id = v.patient_id) > 40;

-- case: the latest row
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE (SELECT v.kind FROM visits v WHERE v.patient_id = p.patient_id ORDER BY v.visited_on DESC, v.visit_id LIMIT 1) = 'surgery';

-- case: a public row tied to a private one
-- outcome: accepted
SELECT SUM((SELECT l.city FROM places l WHERE l.place_id = v.place_id) = 'Oslo') AS n FROM visits v;

-- case: a public aggregate tied to a private row
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(v.cost - (SELECT MAX(t.fee) FROM tariffs t WHERE t.kind = v.kind), 0), 500)) AS over FROM visits v;

-- case: a public count tied to a private row
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v WHERE (SELECT COUNT(*) FROM place_tags t WHERE t.place_id = v.place_id) = 0;

-- case: two of them
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id)
    > (SELECT COUNT(*) FROM sales.orders o WHERE o.patient_id = p.patient_id);

-- case: FILTER inside
-- outcome: accepted
SELECT AVG((SELECT COUNT(*) FILTER (WHERE v.urgent) FROM visits v WHERE v.patient_id = p.patient_id)) AS urgent FROM patients p;

-- case: in a per-unit part
-- outcome: accepted
SELECT AVG(share) AS share FROM (
    SELECT p.patient_id, (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id) AS share FROM patients p);
