-- EXISTS and NOT EXISTS: private rows chosen by rows of the same unit, or by public ones.

-- case: those with a visit
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id);

-- case: those without
-- outcome: accepted
SELECT p.ward, COUNT(*) AS n FROM patients p
WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id) GROUP BY p.ward;

-- case: with conditions on both sides
-- outcome: accepted
SELECT COUNT(*) AS n, AVG(p.age) AS age FROM patients p
WHERE p.sex = 'F' AND EXISTS (
    SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.minutes > p.age AND v.kind <> 'checkup');

-- case: along a foreign key
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(v.minutes) AS minutes FROM visits v
WHERE EXISTS (SELECT 1 FROM treatments t WHERE t.visit_id = v.visit_id AND t.drug = 'aspirin');

-- case: no treatment along a foreign key
-- outcome: accepted
SELECT v.kind, COUNT(*) AS n FROM visits v
WHERE NOT EXISTS (SELECT 1 FROM treatments t WHERE t.visit_id = v.visit_id) GROUP BY v.kind;

-- case: another row of the same unit
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits a
WHERE EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id <> a.visit_id AND b.kind = a.kind);

-- case: two of them, one negated
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.urgent)
    AND NOT EXISTS (SELECT 1 FROM sales.orders o WHERE o.patient_id = p.patient_id);

-- case: doubly negated
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE NOT (NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id));

-- case: over a join inside
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE EXISTS (
    SELECT 1 FROM visits v JOIN treatments t USING (visit_id) JOIN places l USING (place_id)
    WHERE v.patient_id = p.patient_id AND l.city = 'Oslo' AND t.dose > 20);

-- case: nested, each tied to the one around
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE EXISTS (
    SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id
        AND EXISTS (SELECT 1 FROM treatments t WHERE t.visit_id = v.visit_id AND t.dose > 30));

-- case: public rows choose private ones
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE EXISTS (SELECT 1 FROM tariffs t WHERE t.kind = v.kind AND t.fee > v.cost);

-- case: no public row
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE NOT EXISTS (SELECT 1 FROM place_tags t WHERE t.place_id = v.place_id AND t.tag = 'night');

-- case: public rows not tied at all
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE EXISTS (SELECT 1 FROM wards WHERE floor = 3);

-- case: inside OR
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE p.age > 60 OR EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.kind = 'surgery');

-- case: inside CASE
-- outcome: accepted
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id) THEN p.age ELSE 0 END) AS age
FROM patients p;

-- case: as a group key
-- outcome: accepted
SELECT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.urgent) AS urgent, COUNT(*) AS n
FROM patients p GROUP BY 1;

-- case: in a FILTER
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM sales.orders o WHERE o.patient_id = p.patient_id)) AS n
FROM patients p;

-- case: grouped inside, with HAVING
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE EXISTS (SELECT v.kind FROM visits v WHERE v.patient_id = p.patient_id GROUP BY v.kind HAVING COUNT(*) > 1);

-- case: with LIMIT 1
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id LIMIT 1);

-- case: by way of a public table in between
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v JOIN places l USING (place_id)
WHERE EXISTS (SELECT 1 FROM place_tags t WHERE t.place_id = l.place_id AND t.tag LIKE 'p%');

-- case: inside a per-unit part
-- outcome: accepted
SELECT AVG(n) AS visits FROM (
    SELECT v.patient_id, COUNT(*) AS n FROM visits v
    WHERE EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id AND p.smoker) GROUP BY v.patient_id);

-- case: in a CTE, used with a join
-- outcome: accepted
WITH treated AS (SELECT * FROM visits v WHERE EXISTS (SELECT 1 FROM treatments t WHERE t.visit_id = v.visit_id))
SELECT p.sex, COUNT(*) AS n FROM treated JOIN patients p USING (patient_id) GROUP BY p.sex;

-- case: reached over two foreign keys
-- outcome: accepted
SELECT COUNT(*) AS n FROM treatments t WHERE EXISTS (SELECT 1 FROM reactions r WHERE r.treatment_id = t.treatment_id AND r.severity > 2);

-- case: an aggregate without groups gives one row, whatever it is
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE EXISTS (SELECT AVG(cost) FROM visits WHERE cost < -4);

-- case: an aggregate without groups, per patient
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients AS p WHERE EXISTS (SELECT MAX(cost) FROM visits AS v WHERE v.patient_id = p.patient_id);

-- case: another name of an average
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients AS p WHERE 20 < (SELECT mean(minutes) FROM visits AS v WHERE v.patient_id = p.patient_id);

-- case: calls on columns of both sides
-- outcome: accepted
SELECT v.kind, COUNT(*) AS n FROM visits v
SEMI JOIN treatments t ON t.visit_id = v.visit_id AND isnan(t.dose) AND date_diff('day', v.visited_on, t.given_on) < 9
GROUP BY v.kind;
