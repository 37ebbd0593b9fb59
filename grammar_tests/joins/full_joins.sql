-- FULL joins: the unit of either side, and what is joined to it.

-- case: a condition beside the unit
-- outcome: accepted
SELECT COUNT(*), SUM(p.age) FROM patients p FULL JOIN visits v ON p.patient_id = v.patient_id AND p.age > 40;

-- case: three sides
-- outcome: accepted
SELECT COUNT(*), COUNT(DISTINCT patient_id) FROM visits v
FULL JOIN patients p USING (patient_id) FULL JOIN sales.orders o USING (patient_id);

-- case: along a key
-- outcome: accepted
SELECT COUNT(*), COUNT(visit_id) FROM visits v FULL JOIN treatments t USING (visit_id);

-- case: the same by name
-- outcome: accepted
SELECT COUNT(*), SUM(t.dose) FROM visits v NATURAL FULL JOIN treatments t;

-- case: the first of each
-- outcome: accepted
SELECT COUNT(*), SUM(rn) FROM (
    SELECT row_number() OVER (PARTITION BY patient_id) AS rn FROM visits v FULL JOIN sales.orders o USING (patient_id) QUALIFY rn = 1);

-- case: a table behind it
-- outcome: accepted
SELECT COUNT(*), SUM(t.dose) FROM visits v FULL JOIN patients p USING (patient_id) LEFT JOIN treatments t ON t.visit_id = v.visit_id;

-- case: rows that have no other
-- outcome: accepted
SELECT COUNT(*) FROM patients p ANTI JOIN visits v USING (patient_id) LEFT JOIN sales.orders o USING (patient_id);
