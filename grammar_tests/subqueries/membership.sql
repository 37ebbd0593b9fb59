-- IN and NOT IN over subqueries: on the unit, on a key that determines it, over public rows.

-- case: units in a list of units
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE kind = 'surgery');

-- case: units not in it
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits);

-- case: NOT in front
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE NOT patient_id IN (SELECT patient_id FROM visits WHERE urgent);

-- case: units with many rows
-- outcome: accepted
SELECT AVG(age) AS age FROM patients
WHERE patient_id IN (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3);

-- case: units of a union
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients
WHERE patient_id IN (SELECT patient_id FROM visits UNION ALL SELECT patient_id FROM calls);

-- case: a key that determines the unit
-- outcome: accepted
SELECT SUM(minutes) AS minutes FROM visits WHERE visit_id IN (SELECT visit_id FROM treatments WHERE dose > 50);

-- case: tied to the unit, another column compared
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE p.ward IN (SELECT v.kind FROM visits v WHERE v.patient_id = p.patient_id);

-- case: tied to the unit, not among the values, NULL among them
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE p.age NOT IN (SELECT v.minutes FROM visits v WHERE v.patient_id = p.patient_id);

-- case: tied to the unit, NULL on the left
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE v.urgent NOT IN (SELECT p.insured FROM patients p WHERE p.patient_id = v.patient_id AND p.age > 50);

-- case: several columns
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE (v.patient_id, v.minutes) IN (SELECT p.patient_id, p.age FROM patients p);

-- case: several columns with an inner maximum
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits
WHERE (patient_id, visited_on) IN (SELECT patient_id, MAX(visited_on) FROM visits GROUP BY patient_id);

-- case: not in a public list that holds NULL
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE place_id NOT IN (SELECT place_id FROM place_tags);

-- case: a public list tied to the row
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v WHERE v.kind IN (SELECT t.kind FROM tariffs t WHERE t.fee > v.cost);

-- case: not in a public list tied to the row
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v WHERE v.kind NOT IN (SELECT t.kind FROM tariffs t WHERE t.fee > v.cost);

-- case: = ANY
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE patient_id = ANY (SELECT patient_id FROM visits WHERE urgent);

-- case: <> ALL
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE patient_id <> ALL (SELECT patient_id FROM visits WHERE urgent);

-- case: inside OR
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE p.smoker OR p.patient_id IN (SELECT patient_id FROM visits WHERE kind = 'therapy');

-- case: as a sum of a condition
-- outcome: accepted
SELECT COUNT_IF(patient_id IN (SELECT patient_id FROM sales.orders WHERE status = 'paid')) AS payers FROM patients;

-- case: units of another width
-- outcome: accepted
SELECT COUNT(*) AS n FROM sales.orders WHERE patient_id IN (SELECT patient_id FROM patients WHERE age > 30);

-- case: the first rows of each
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE v.visit_id IN (SELECT w.visit_id FROM visits w WHERE w.patient_id = v.patient_id ORDER BY w.visited_on DESC LIMIT 2);

-- case: the release of another query
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits
WHERE place_id IN (SELECT place_id FROM visits GROUP BY place_id HAVING COUNT(*) > 20);

-- case: one of three outcomes inside OR
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE p.smoker OR p.age IN (SELECT v.minutes FROM visits v WHERE v.patient_id = p.patient_id);

-- case: NULL as an outcome
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE (v.urgent IN (SELECT w.urgent FROM visits w WHERE w.patient_id = v.patient_id AND w.kind = 'surgery')) IS NULL;

-- case: three outcomes as groups
-- outcome: accepted
SELECT p.age NOT IN (SELECT v.minutes FROM visits v WHERE v.patient_id = p.patient_id AND v.minutes > 40) AS other, COUNT(*) AS n
FROM patients p GROUP BY other;

-- case: three outcomes over public rows that are tied
-- outcome: accepted
SELECT v.kind IN (SELECT t.tag FROM place_tags t WHERE t.place_id = v.place_id) AS tagged, COUNT(*) AS n FROM visits v
GROUP BY tagged;

-- case: one of several, as a key
-- outcome: accepted
SELECT ward = ANY (SELECT ward FROM wards WHERE floor = 1) AS ground, COUNT(*) AS n FROM patients GROUP BY ground;

-- case: none of several, in an aggregate
-- outcome: accepted
SELECT SUM(CASE WHEN ward <> ALL (SELECT ward FROM wards WHERE floor = 1) THEN 1 ELSE 0 END) AS n FROM patients;

-- case: one of the unit's own, in an expression
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p WHERE p.smoker OR 'surgery' = ANY (SELECT v.kind FROM visits v WHERE v.patient_id = p.patient_id);
