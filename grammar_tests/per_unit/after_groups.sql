-- What stands above the groups of one unit: aliases, windows, DISTINCT, subqueries.

-- case: an alias in HAVING
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id HAVING n > 1);

-- case: an alias in QUALIFY
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY patient_id, kind
    QUALIFY rank() OVER (PARTITION BY patient_id ORDER BY n DESC) = 1);

-- case: a window sees what QUALIFY drops
-- outcome: accepted
SELECT SUM(LEAST(n, 10)) FROM (SELECT patient_id, COUNT(*) OVER (PARTITION BY patient_id) AS n FROM visits
    QUALIFY row_number() OVER (PARTITION BY patient_id ORDER BY visit_id) = 1);

-- case: a window over groups sees them too
-- outcome: accepted
SELECT SUM(LEAST(m, 100)) FROM (
    SELECT patient_id, kind, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY patient_id) AS m FROM visits GROUP BY patient_id, kind
    QUALIFY row_number() OVER (PARTITION BY patient_id ORDER BY n DESC, kind) = 1);

-- case: but not what HAVING drops
-- outcome: accepted
SELECT SUM(LEAST(n, 100)) FROM (
    SELECT patient_id, COUNT(*) AS n, MAX(COUNT(*)) OVER (PARTITION BY patient_id) AS m FROM visits GROUP BY patient_id, kind
    HAVING n > 1 QUALIFY n = m);

-- case: DISTINCT groups
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM visits GROUP BY patient_id, kind);

-- case: DISTINCT values of groups
-- outcome: accepted
SELECT COUNT(*), SUM(n) FROM (SELECT DISTINCT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id, kind);

-- case: DISTINCT windows
-- outcome: accepted
SELECT SUM(s) FROM (SELECT DISTINCT patient_id, COUNT(*) OVER (PARTITION BY patient_id, kind) AS s FROM visits);

-- case: a subquery that names the group
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(r, 0), 10)) FROM (
    SELECT v.patient_id, COUNT(*) + (SELECT MAX(age) FROM patients p WHERE p.patient_id = v.patient_id) AS r
    FROM visits v GROUP BY v.patient_id);

-- case: HAVING compares with other rows of the unit
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > (
    SELECT COUNT(*) FROM treatments t JOIN visits w USING (visit_id) WHERE w.patient_id = visits.patient_id));

-- case: HAVING with a release
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > (SELECT COUNT(*) / 30 FROM patients));

-- case: HAVING with the unit in a list
-- outcome: accepted
SELECT COUNT(*) FROM (
    SELECT patient_id FROM visits GROUP BY patient_id HAVING patient_id NOT IN (SELECT patient_id FROM patients WHERE age > 40));

-- case: groups of marks
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT patient_id, SUM(CASE WHEN EXISTS (SELECT 1 FROM treatments t WHERE t.visit_id = visits.visit_id)
    THEN 1 ELSE 0 END) AS n FROM visits GROUP BY patient_id) WHERE n > 1;
