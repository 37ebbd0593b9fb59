-- D404: rows kept by this outer join belong to no unit.

-- case: a public table kept, all rows counted
-- outcome: refused D404 at 1:53
-- instead: SELECT l.place_id, COUNT(v.visit_id) AS n FROM places l LEFT JOIN visits v ON v.place_id = l.place_id GROUP BY l.place_id
SELECT l.place_id, COUNT(*) FROM places l LEFT JOIN visits v ON v.place_id = l.place_id GROUP BY l.place_id;

-- case: a public table kept from the right
-- outcome: refused D404 at 1:50
SELECT l.city, COUNT(*) FROM visits v RIGHT JOIN places l ON v.place_id = l.place_id GROUP BY l.city;

-- case: both sides kept
-- outcome: refused D404 at 1:41
-- instead: SELECT l.city, v.n FROM (SELECT place_id, COUNT(*) AS n FROM visits GROUP BY place_id) v FULL JOIN places l USING (place_id)
SELECT COUNT(*) FROM visits v FULL JOIN places l ON v.place_id = l.place_id;

-- case: places nobody visits
-- outcome: refused D404 at 1:41
SELECT COUNT(*) FROM places l LEFT JOIN visits v USING (place_id) WHERE v.visit_id IS NULL;

-- case: a public column summed
-- outcome: refused D404 at 1:43
SELECT SUM(w.beds) FROM wards w LEFT JOIN patients p ON p.ward = w.ward;

-- case: a missing value replaced
-- outcome: refused D404 at 1:65
SELECT l.kind, SUM(COALESCE(v.cost, 1)) FROM places l LEFT JOIN visits v ON v.place_id = l.place_id GROUP BY l.kind;

-- case: keys from the private side
-- outcome: refused D404 at 1:54
SELECT v.kind, COUNT(v.cost) FROM places l LEFT JOIN visits v ON v.place_id = l.place_id GROUP BY v.kind;

-- case: a condition on the private side afterwards
-- outcome: refused D404 at 1:58
SELECT l.city, COUNT(v.visit_id) FROM places l LEFT JOIN visits v USING (place_id) WHERE v.cost IS NULL OR v.cost > 10 GROUP BY l.city;

-- case: a condition that chooses among the kept rows' groups
-- outcome: refused D404 at 1:54
SELECT p.kind, COUNT(v.kind) FROM places p LEFT JOIN visits v ON p.place_id = v.place_id AND p.kind = 'clinic' GROUP BY 1;

-- case: both sides kept, the public one first
-- outcome: refused D404
SELECT COUNT(*) FROM places l FULL JOIN visits v USING (place_id);

-- case: a mark above kept public rows
-- outcome: refused D404 at 2:24
SELECT w.ward, SUM(CASE WHEN EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id) THEN 0 ELSE 1 END)
FROM wards w LEFT JOIN patients p ON p.ward = w.ward GROUP BY w.ward;

-- case: a window above kept public rows
-- outcome: refused D404 at 2:24
SELECT w.ward, SUM(rank() OVER (PARTITION BY p.patient_id ORDER BY w.beds))
FROM wards w LEFT JOIN patients p ON p.ward = w.ward GROUP BY w.ward;

-- case: a key of the public table that is NULL in some of its rows
-- outcome: refused D404 at 1:71
-- instead: SELECT t.place_id, COUNT(v.visit_id) AS n FROM (SELECT * FROM place_tags WHERE place_id IS NOT NULL) AS t LEFT JOIN visits v USING (place_id) GROUP BY 1
SELECT t.place_id, COUNT(v.visit_id) AS n FROM place_tags t LEFT JOIN visits v USING (place_id) GROUP BY 1;

-- case: a condition of the join that chooses among public rows
-- outcome: refused D404 at 1:52
-- instead: SELECT w.ward, COUNT(p.age) FILTER (WHERE w.floor = 1) FROM wards w LEFT JOIN patients p ON p.ward = w.ward GROUP BY w.ward
SELECT w.ward, COUNT(p.age) FROM wards w LEFT JOIN patients p ON p.ward = w.ward AND w.floor = 1 GROUP BY w.ward;

-- case: names that two private tables in a row have
-- outcome: refused D404 at 1:58
-- instead: SELECT l.place_id, COUNT(v.cost) FROM places l LEFT JOIN visits v ON v.place_id = l.place_id LEFT JOIN (SELECT patient_id, COUNT(*) AS place_id FROM referrals GROUP BY patient_id) r ON r.patient_id = v.patient_id GROUP BY l.place_id
SELECT l.place_id, COUNT(v.cost) FROM places l LEFT JOIN visits v USING (place_id) LEFT JOIN (SELECT patient_id, COUNT(*) AS place_id FROM referrals GROUP BY patient_id) r ON r.patient_id = v.patient_id GROUP BY l.place_id;

-- case: a natural join in front of another
-- outcome: refused D404 at 1:89
SELECT w.ward, COUNT(p.age) FROM (SELECT ward, floor FROM wards) AS w NATURAL LEFT JOIN patients p LEFT JOIN visits v ON v.patient_id = p.patient_id GROUP BY w.ward;
