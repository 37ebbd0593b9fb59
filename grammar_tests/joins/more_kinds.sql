-- FULL, SEMI, ANTI, NATURAL, RIGHT ... USING and parenthesised joins of private rows.

-- case: FULL on the unit
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(p.age) AS people, COUNT(v.kind) AS visits
FROM patients p FULL JOIN visits v ON p.patient_id = v.patient_id;

-- case: FULL USING the unit
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS units FROM patients p FULL JOIN visits v USING (patient_id);

-- case: FULL with another condition
-- outcome: accepted
SELECT v.kind, COUNT(*) AS n FROM patients p FULL OUTER JOIN visits v ON p.patient_id = v.patient_id AND v.minutes > p.age
GROUP BY v.kind;

-- case: FULL inside, then per unit
-- outcome: accepted
SELECT AVG(n) AS n FROM (
    SELECT patient_id, COUNT(*) AS n FROM visits v FULL JOIN sales.orders o USING (patient_id) GROUP BY patient_id);

-- case: three tables by FULL
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients FULL JOIN visits USING (patient_id) FULL JOIN sales.orders USING (patient_id);

-- case: SEMI
-- outcome: accepted
SELECT sex, COUNT(*) AS n FROM patients SEMI JOIN visits USING (patient_id) GROUP BY sex;

-- case: ANTI
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p ANTI JOIN visits v ON p.patient_id = v.patient_id AND v.kind = 'surgery';

-- case: SEMI with a public table
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v SEMI JOIN places l ON l.place_id = v.place_id AND l.city = 'Bergen';

-- case: ANTI with a public table
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v ANTI JOIN place_tags t ON t.place_id = v.place_id;

-- case: NATURAL on the unit
-- outcome: accepted
SELECT SUM(amount) AS amount FROM patients NATURAL JOIN sales.orders;

-- case: NATURAL with a public table
-- outcome: accepted
SELECT floor, COUNT(*) AS n FROM patients NATURAL JOIN wards GROUP BY floor;

-- case: RIGHT USING
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS units FROM visits RIGHT JOIN patients USING (patient_id);

-- case: parentheses
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p JOIN (visits v JOIN places l ON l.place_id = v.place_id) ON v.patient_id = p.patient_id
WHERE l.city = 'Oslo';

-- case: parentheses with a name
-- outcome: accepted
SELECT SUM(t.minutes) AS minutes FROM (patients p JOIN visits v USING (patient_id)) AS t WHERE t.age > 30;

-- case: a kept pair in parentheses
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(t.dose) AS doses
FROM patients p LEFT JOIN (visits v JOIN treatments t USING (visit_id)) ON v.patient_id = p.patient_id;
