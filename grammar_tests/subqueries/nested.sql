-- Subqueries in subqueries, names that are hidden, and sides that may be NULL.

-- case: a mean of one's own inside
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id
    AND v.cost > (SELECT AVG(cost) FROM visits w WHERE w.patient_id = v.patient_id));

-- case: public rows inside
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE (SELECT MAX(t.dose) FROM treatments t JOIN visits v USING (visit_id)
    WHERE v.patient_id = p.patient_id AND v.kind IN (SELECT kind FROM tariffs WHERE fee > 30)) > 50;

-- case: a FULL join inside
-- outcome: accepted
SELECT COUNT(*) FROM patients p
WHERE (SELECT COUNT(*) FROM visits v FULL JOIN sales.orders t USING (patient_id) WHERE patient_id = p.patient_id) > 1;

-- case: the table's own name outside
-- outcome: accepted
SELECT COUNT(*) FROM patients WHERE (SELECT COUNT(*) FROM visits WHERE patient_id = patients.patient_id) > 1;

-- case: equal to any
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE NOT p.age = ANY (SELECT minutes FROM visits v WHERE v.patient_id = p.patient_id);

-- case: unlike all
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE p.age <> ALL (SELECT minutes FROM visits v WHERE v.patient_id = p.patient_id);

-- case: not outside
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE NOT (p.age NOT IN (SELECT minutes FROM visits v WHERE v.patient_id = p.patient_id));

-- case: a pair with the unit outside
-- outcome: accepted
SELECT COUNT(*) FROM visits v WHERE (patient_id, kind) NOT IN (SELECT patient_id, 'surgery' FROM patients);

-- case: public pairs that may be NULL
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE (p.ward, p.sex) NOT IN (SELECT ward, 'F' FROM wards);

-- case: a public list with NULL in it
-- outcome: accepted
SELECT COUNT(*) FROM visits v WHERE v.cost > 100 OR v.place_id NOT IN (SELECT place_id FROM place_tags);

-- case: the same, tied
-- outcome: accepted
SELECT COUNT(*) FROM visits v WHERE v.place_id NOT IN (SELECT place_id FROM place_tags WHERE tag = v.kind);

-- case: no public row that is larger
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (FROM wards w WHERE w.beds > p.age);

-- case: being there, compared
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id) = (p.age > 40);
