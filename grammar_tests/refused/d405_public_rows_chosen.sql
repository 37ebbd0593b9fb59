-- D405: public rows would be chosen by private ones.

-- case: places somebody visits
-- outcome: refused D405 at 1:50
-- instead: SELECT l.city FROM places l SEMI JOIN (SELECT place_id FROM visits GROUP BY place_id) v USING (place_id)
SELECT l.city FROM places l WHERE EXISTS (SELECT 1 FROM visits v WHERE v.place_id = l.place_id);

-- case: places nobody visits
-- outcome: refused D405 at 1:58
-- instead: SELECT l.place_id FROM places l ANTI JOIN (SELECT place_id FROM visits GROUP BY place_id) v USING (place_id)
SELECT l.place_id FROM places l WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.place_id = l.place_id);

-- case: places in a private list
-- outcome: refused D405 at 1:51
-- instead: SELECT city FROM places WHERE place_id IN (SELECT place_id FROM visits GROUP BY place_id)
SELECT city FROM places WHERE place_id IN (SELECT place_id FROM visits);

-- case: places in no private list
-- outcome: refused D405 at 1:59
SELECT COUNT(*) FROM places WHERE place_id NOT IN (SELECT place_id FROM visits WHERE place_id IS NOT NULL);

-- case: a semi join
-- outcome: refused D405 at 1:36
SELECT ward FROM wards w SEMI JOIN patients p ON p.ward = w.ward;

-- case: an anti join
-- outcome: refused D405 at 1:46
SELECT w.ward, w.beds FROM wards w ANTI JOIN patients p ON p.ward = w.ward;

-- case: constants in a private list
-- outcome: refused D405 at 1:23
SELECT 'A' IN (SELECT ward FROM patients) AS somebody_there;

-- case: somebody with a certain age
-- outcome: refused D405 at 1:23
SELECT EXISTS (SELECT 1 FROM patients WHERE age = 103) AS anybody;

-- case: SEMI from a public table
-- outcome: refused D405
-- instead: SELECT COUNT(*) FROM places SEMI JOIN (SELECT place_id FROM visits GROUP BY place_id) AS b USING (place_id)
SELECT COUNT(*) FROM places SEMI JOIN visits USING (place_id);

-- case: ANTI from a public table
-- outcome: refused D405
-- instead: SELECT COUNT(*) FROM places l ANTI JOIN (SELECT place_id FROM visits GROUP BY place_id) v USING (place_id)
SELECT COUNT(*) FROM places l ANTI JOIN visits v ON v.place_id = l.place_id;
