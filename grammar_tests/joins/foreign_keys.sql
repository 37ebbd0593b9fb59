-- Private tables joined along the foreign keys that the policy declares.

-- case: one step along the chain
-- outcome: accepted
SELECT v.kind, COUNT(*) AS n FROM treatments t JOIN visits v ON v.visit_id = t.visit_id GROUP BY v.kind;

-- case: one step with USING
-- outcome: accepted
SELECT AVG(t.dose) AS mean_dose, SUM(v.minutes) AS minutes FROM treatments t JOIN visits v USING (visit_id);

-- case: the whole chain to the unit table
-- outcome: accepted
SELECT p.sex, AVG(t.dose) AS mean_dose
FROM treatments t JOIN visits v ON t.visit_id = v.visit_id JOIN patients p ON p.patient_id = v.patient_id
GROUP BY p.sex;

-- case: three steps
-- outcome: accepted
SELECT p.ward, COUNT(*) AS reactions
FROM reactions r
JOIN treatments t USING (treatment_id)
JOIN visits v USING (visit_id)
JOIN patients p USING (patient_id)
GROUP BY p.ward;

-- case: two children of one parent
-- outcome: accepted
SELECT COUNT(*) AS severe FROM reactions r JOIN treatments t ON r.treatment_id = t.treatment_id WHERE r.severity >= 4 AND t.dose > 10;

-- case: a left join down the chain
-- outcome: accepted
SELECT v.kind, COUNT(*) AS n, COUNT(t.treatment_id) AS treated
FROM visits v LEFT JOIN treatments t ON t.visit_id = v.visit_id
GROUP BY v.kind;

-- case: distinct units at the end of a chain
-- outcome: accepted
SELECT COUNT(DISTINCT v.patient_id) AS people FROM treatments t, visits v WHERE t.visit_id = v.visit_id AND t.dose > 20;

-- case: a shared order number, with the unit
-- outcome: accepted
SELECT SUM(r.amount) AS refunded, COUNT(*) AS n
FROM sales.orders o JOIN sales.refunds r ON r.order_id = o.order_id AND r.patient_id = o.patient_id
WHERE o.amount > 20;

-- case: a shared order number that determines the unit
-- outcome: accepted
SELECT o.status, SUM(r.amount) AS refunded
FROM sales.refunds r JOIN sales.orders o ON r.order_id = o.order_id
GROUP BY o.status;
