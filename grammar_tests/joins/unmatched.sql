-- The rows of an outer join that met no row: an anti-join, where the column that is NULL says so.

-- case: patients without a visit
-- outcome: accepted
SELECT COUNT(*) AS n, AVG(p.age) AS age FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id
WHERE v.patient_id IS NULL;

-- case: by a column that is never NULL, and a condition of the join
-- outcome: accepted
SELECT p.ward, COUNT(*) AS n, COUNT(v.cost) AS costs, SUM(COALESCE(v.cost, 7)) AS sevens
FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id AND v.kind = 'surgery'
WHERE v.visit_id IS NULL AND v.cost IS NULL GROUP BY p.ward;

-- case: with USING, and in front of another join
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(r.n) AS referred
FROM patients p LEFT JOIN visits v USING (patient_id)
LEFT JOIN (SELECT patient_id, COUNT(*) AS n FROM referrals GROUP BY patient_id) r ON r.patient_id = p.patient_id
WHERE v.patient_id IS NULL AND p.age > 20;

-- case: visits without a treatment
-- outcome: accepted
SELECT v.kind, COUNT(*) AS n FROM visits v LEFT JOIN treatments t USING (visit_id)
WHERE t.visit_id IS NULL GROUP BY v.kind;

-- case: a column that may be NULL in a row that was met
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(v.visit_id) AS visits FROM patients p LEFT JOIN visits v USING (patient_id)
WHERE v.cost IS NULL;

-- case: one test or another
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(v.visit_id) AS visits FROM patients p LEFT JOIN visits v USING (patient_id)
WHERE v.patient_id IS NULL OR v.cost > 100;

-- case: the side that is kept
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v RIGHT JOIN patients p USING (patient_id) WHERE v.visit_id IS NULL;

-- case: values of rows that are not there
-- outcome: accepted
SELECT COUNT(v.minutes) AS minutes, COUNT(*) AS n, SUM(COALESCE(v.cost, 1)) AS cost,
    SUM(CASE WHEN v.visited_on > DATE '2021-01-01' THEN 1 ELSE 0 END) AS late
FROM patients p LEFT JOIN visits v USING (patient_id) WHERE v.kind IS NULL;

-- case: a public row that is not there, read beside a private one
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(v.minutes) AS minutes
FROM patients p LEFT JOIN wards w ON w.ward = p.ward LEFT JOIN visits v ON v.patient_id = p.patient_id
WHERE w.ward IS NULL AND COALESCE(w.beds, v.minutes) >= v.place_id;
