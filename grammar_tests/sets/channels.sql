-- UNION ALL of private rows whose select lists do not have the unit.

-- case: rows of both
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT cost FROM visits UNION ALL SELECT cost FROM referrals);

-- case: sums of three channels
-- outcome: accepted
SELECT channel, COUNT(*) AS n, SUM(amount) AS amount FROM (
    SELECT 'visit' AS channel, cost AS amount FROM visits
    UNION ALL
    SELECT 'referral', cost FROM referrals
    UNION ALL
    SELECT 'order', amount::DOUBLE FROM sales.orders
) GROUP BY channel;

-- case: one side twice
-- outcome: accepted
SELECT SUM(x) AS s FROM (SELECT age AS x FROM patients UNION ALL SELECT age FROM patients);

-- case: by name
-- outcome: accepted
SELECT AVG(minutes) AS minutes, COUNT(*) AS n
FROM (SELECT kind, minutes FROM visits UNION ALL BY NAME SELECT minutes, kind FROM visits WHERE urgent);

-- case: joined before and filtered after
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM (
    SELECT p.ward, v.cost AS x FROM visits v JOIN patients p USING (patient_id)
    UNION ALL
    SELECT p.ward, o.amount::DOUBLE FROM sales.orders o JOIN patients p USING (patient_id)
) WHERE x > 20 GROUP BY ward;

-- case: from WITH, used twice
-- outcome: accepted
WITH sales AS (SELECT cost AS x FROM visits UNION ALL SELECT amount::DOUBLE FROM sales.orders)
SELECT (SELECT COUNT(*) FROM sales) AS n, (SELECT SUM(x) FROM sales) AS s;

-- case: joined with a public table
-- outcome: accepted
SELECT w.floor, COUNT(*) AS n
FROM (SELECT ward FROM patients UNION ALL SELECT ward FROM patients WHERE smoker) JOIN wards w USING (ward) GROUP BY w.floor;

-- case: along different paths to the unit
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT treatment_id AS id FROM treatments UNION ALL SELECT visit_id FROM visits);
