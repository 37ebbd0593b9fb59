-- Private tables joined on the unit.

-- case: USING the unit
-- outcome: accepted
SELECT AVG(p.age) AS mean_age FROM patients AS p JOIN visits AS v USING (patient_id);

-- case: ON the unit
-- outcome: accepted
SELECT p.ward, SUM(v.cost) AS cost FROM patients p JOIN visits v ON p.patient_id = v.patient_id GROUP BY p.ward;

-- case: a comma and a WHERE
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p, visits v WHERE p.patient_id = v.patient_id AND v.cost > p.age;

-- case: the equality written the other way round, among other conditions
-- outcome: accepted
SELECT SUM(v.minutes) AS minutes
FROM patients p INNER JOIN visits v ON v.minutes > 20 AND v.patient_id = p.patient_id AND p.sex = 'M';

-- case: unit columns of two widths
-- outcome: accepted
SELECT p.sex, AVG(o.amount) AS mean_amount FROM patients p JOIN sales.orders o USING (patient_id) GROUP BY p.sex;

-- case: two tables with many rows each
-- outcome: accepted
SELECT COUNT(*) AS pairs, SUM(v.cost + o.amount) AS money FROM visits v JOIN sales.orders o USING (patient_id);

-- case: three private tables
-- outcome: accepted
SELECT p.insured, COUNT(*) AS n
FROM patients p JOIN visits v USING (patient_id) JOIN sales.orders o USING (patient_id)
WHERE o.status = 'paid'
GROUP BY p.insured;

-- case: a self join on the unit and more
-- outcome: accepted
SELECT COUNT(*) AS pairs
FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.kind = b.kind AND a.visit_id < b.visit_id;

-- case: a private table kept by a left join
-- outcome: accepted
SELECT p.ward, COUNT(*) AS n, COUNT(v.visit_id) AS visits, AVG(v.cost) AS mean_cost
FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id
GROUP BY p.ward;

-- case: a condition in ON of a left join
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(v.cost) AS surgeries
FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id AND v.kind = 'surgery';

-- case: those without a match
-- outcome: accepted
SELECT COUNT(*) AS never_came
FROM patients p LEFT JOIN visits v USING (patient_id)
WHERE v.kind IS NULL;

-- case: a right join is a left join
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(o.amount) AS amount FROM sales.orders o RIGHT JOIN patients p ON o.patient_id = p.patient_id;

-- case: a left join to a filtered subquery
-- outcome: accepted
SELECT p.smoker, SUM(COALESCE(s.cost, 0)) AS cost
FROM patients p LEFT JOIN (SELECT patient_id, cost FROM visits WHERE urgent) AS s ON s.patient_id = p.patient_id
GROUP BY p.smoker;

-- case: the unit through a subquery that renames it
-- outcome: accepted
SELECT COUNT(*) AS n
FROM (SELECT patient_id AS who, age FROM patients) AS a JOIN (SELECT cost, patient_id AS whom FROM visits) AS b ON a.who = b.whom
WHERE b.cost > 100;

