-- An outer join that keeps the public side, read as the inner join with the public side as key domain.

-- case: visits of every place
-- outcome: accepted
SELECT l.place_id, l.city, COUNT(v.visit_id) AS visits
FROM places l LEFT JOIN visits v ON v.place_id = l.place_id
GROUP BY l.place_id, l.city;

-- case: costs of every place, from the right
-- outcome: accepted
SELECT l.kind, SUM(v.cost) AS cost FROM visits v RIGHT JOIN places l ON v.place_id = l.place_id GROUP BY l.kind;

-- case: a public table whose key no constraint keeps, and which has it twice
-- outcome: accepted
SELECT t.kind, COUNT(v.visit_id) AS n FROM tariffs t LEFT JOIN visits v USING (kind) GROUP BY t.kind;

-- case: two public tables that are joined
-- outcome: accepted
SELECT t.tag, COUNT(v.visit_id) AS n, SUM(v.cost) AS cost
FROM place_tags t JOIN places l USING (place_id) LEFT JOIN visits v USING (place_id) GROUP BY t.tag;

-- case: each row of a public table meets many of another
-- outcome: accepted
SELECT w.ward, COUNT(p.patient_id) AS n
FROM wards w CROSS JOIN age_bands b LEFT JOIN patients p ON p.ward = w.ward GROUP BY w.ward;

-- case: two private tables in a row
-- outcome: accepted
SELECT w.ward, COUNT(v.visit_id) AS visits, COUNT(p.age) AS ages
FROM wards w LEFT JOIN patients p USING (ward) LEFT JOIN visits v ON v.patient_id = p.patient_id AND v.cost > 100
GROUP BY w.ward;

-- case: public tables and private ones in a row
-- outcome: accepted
SELECT w.ward, b.band, COUNT(r.reason) AS referred, COUNT(v.cost) AS costs
FROM wards w JOIN age_bands b ON true LEFT JOIN patients p ON p.ward = w.ward AND p.age BETWEEN b.low AND b.high
LEFT JOIN visits v USING (patient_id) LEFT JOIN referrals r ON r.patient_id = p.patient_id
GROUP BY ALL;
