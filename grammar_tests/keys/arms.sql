-- Keys that a unit's own key is cut into: few values, which the expression itself lists.

-- case: halves by a remainder
-- outcome: accepted
SELECT patient_id % 2 AS arm, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY arm;

-- case: units of each arm
-- outcome: accepted
SELECT patient_id % 2 = 0 AS treated, COUNT(DISTINCT patient_id) AS people, COUNT(*) AS n FROM visits GROUP BY treated;

-- case: by the beginning of a hash
-- outcome: accepted
SELECT md5(patient_id::VARCHAR) < '8' AS arm, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY 1;

-- case: thirds of a hash, beside a listed key
-- outcome: accepted
SELECT md5_number_lower(patient_id::VARCHAR) % 3 AS arm, sex, AVG(age) AS age FROM patients GROUP BY ALL;

-- case: named arms
-- outcome: accepted
SELECT CASE WHEN patient_id % 10 < 3 THEN 'treated' ELSE 'control' END AS arm, COUNT(*) AS n FROM visits GROUP BY arm;

-- case: arms from a subquery
-- outcome: accepted
SELECT arm, AVG(age) AS age FROM (SELECT *, patient_id % 3 AS arm FROM patients) GROUP BY arm;

-- case: arms of each unit's work
-- outcome: accepted
SELECT arm, COUNT(*) AS people, AVG(n) AS visits
FROM (SELECT patient_id, patient_id % 2 = 0 AS arm, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY arm;

-- case: arms of orders and not of their units
-- outcome: accepted
SELECT order_id % 2 = 0 AS arm, COUNT(*) AS n, SUM(amount) AS amount FROM sales.orders GROUP BY arm;

-- case: an arm that may be missing
-- outcome: accepted
SELECT o.patient_id % 2 AS arm, COUNT(*) AS n
FROM visits v LEFT JOIN sales.orders o ON v.patient_id = o.patient_id AND o.amount > 50 GROUP BY arm;

-- case: in WHERE and in FILTER
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE patient_id % 2 = 0) AS even, COUNT(*) AS n FROM visits WHERE md5(patient_id::VARCHAR) < '8';

-- case: beside a private key
-- outcome: accepted
SELECT patient_id % 2 = 0 AS arm, city, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: rolled up
-- outcome: accepted
SELECT patient_id % 2 = 0 AS arm, kind, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY ROLLUP (arm, kind);

-- case: one unit and all others, as WHERE may ask
-- outcome: accepted
SELECT patient_id = 3 AS is_it_three, COUNT(*) AS n FROM patients GROUP BY is_it_three;
