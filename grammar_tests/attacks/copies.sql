-- Many copies of one row: what a unit adds is bounded after everything that multiplies it.

-- case: one income for each visit
-- attack: joins that fan out
-- outcome: accepted
SELECT SUM(p.income) AS s FROM visits v JOIN patients p USING (patient_id);

-- case: a self-join on the unit
-- attack: joins that fan out
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits a JOIN visits b USING (patient_id);

-- case: a self-join of three
-- attack: joins that fan out
-- outcome: accepted
SELECT SUM(a.minutes) AS s FROM visits a JOIN visits b ON a.patient_id = b.patient_id JOIN visits c ON c.patient_id = b.patient_id WHERE c.urgent AND a.minutes < 60 AND b.minutes < 60 AND c.minutes < 60;

-- case: a comma join
-- attack: joins that fan out
-- outcome: refused D401 at 1:34
SELECT COUNT(*) FROM patients a, patients b WHERE a.age < b.age;

-- case: by an inequality of the unit
-- attack: joins that fan out
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients a JOIN visits b ON a.patient_id >= b.patient_id;

-- case: on a column called as the unit
-- attack: joins that fan out
-- outcome: refused D401 at 1:73
SELECT COUNT(*) FROM (SELECT place_id AS patient_id FROM visits) a JOIN patients b USING (patient_id);

-- case: on the unit or something else
-- attack: joins that fan out
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients a JOIN visits b ON a.patient_id = b.patient_id OR a.city = 'Oslo';

-- case: a natural join of two private tables on more than the unit
-- attack: joins that fan out
-- outcome: accepted
SELECT COUNT(*) AS n FROM sales.orders NATURAL JOIN sales.refunds;

-- case: a full join that keeps everybody
-- attack: joins that fan out
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits a FULL JOIN sales.orders b ON a.patient_id = b.patient_id AND a.minutes = 30;

-- case: a full join on a column that is not the unit
-- attack: joins that fan out
-- outcome: refused D401 at 1:43
SELECT COUNT(*) FROM patients a FULL JOIN visits b ON a.age = b.minutes;

-- case: an outer join that never matches, joined by its empty unit
-- attack: joins that fan out
-- outcome: refused D401 at 1:98
SELECT COUNT(*) FROM patients a LEFT JOIN visits b ON a.patient_id = b.patient_id AND FALSE JOIN patients c ON c.patient_id IS NOT DISTINCT FROM b.patient_id;

-- case: by a cast of the unit
-- attack: joins that fan out
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients a JOIN visits b ON a.patient_id::VARCHAR = b.patient_id::VARCHAR;

-- case: through a public table
-- attack: joins that fan out
-- outcome: refused D401 at 1:71
SELECT COUNT(*) FROM patients a JOIN places l ON l.city = a.city JOIN visits b ON b.place_id = l.place_id;

-- case: on what was once the unit of a group
-- attack: joins that fan out
-- outcome: accepted
SELECT SUM(a.n * b.n) AS s FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) a JOIN (SELECT patient_id, COUNT(*) AS n FROM treatments JOIN visits USING (visit_id) GROUP BY patient_id) b USING (patient_id);

-- case: a view joined with its table
-- attack: joins that fan out
-- outcome: accepted
SELECT SUM(s.price) AS s FROM stays s JOIN stays t USING (patient_id) JOIN adults a USING (patient_id);

-- case: a thousand copies
-- attack: public tables multiply rows
-- outcome: accepted
SELECT SUM(age) AS s FROM patients, range(1000) AS r(i);

-- case: a constant list of three
-- attack: public tables multiply rows
-- outcome: accepted
SELECT SUM(age) AS s FROM patients, (VALUES (1), (2), (3)) AS t(i);

-- case: a public table on nothing
-- attack: public tables multiply rows
-- outcome: accepted
SELECT AVG(p.age) AS a FROM patients p JOIN place_tags t ON TRUE;

-- case: copies for the rows of one person alone
-- attack: public tables multiply rows
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p JOIN range(1000) AS r(i) ON p.age = 40 OR r.i = 0;

-- case: copies by a range of each row
-- attack: public tables multiply rows
-- outcome: refused D252 at 1:46
SELECT COUNT(*) FROM patients p JOIN LATERAL range(p.children) AS r(i) ON TRUE;

-- case: copies by a list of each row
-- attack: public tables multiply rows
-- outcome: refused D251 at 1:12
SELECT SUM(unnest(list_value(age, age, age))) FROM patients;

-- case: copies by recursion
-- attack: public tables multiply rows
-- outcome: accepted
WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 500) SELECT SUM(age) FROM patients, r;

-- case: copies by columns turned into rows
-- attack: public tables multiply rows
-- outcome: refused D252 at 1:28
SELECT SUM(v) FROM (SELECT age, children FROM patients) UNPIVOT (v FOR name IN (age, children));

-- case: copies by grouping sets
-- attack: public tables multiply rows
-- outcome: accepted
SELECT ward, sex, smoker, COUNT(*) AS n FROM patients GROUP BY CUBE (ward, sex, smoker);

-- case: copies by a public view
-- attack: public tables multiply rows
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(p.income) AS s FROM patients p CROSS JOIN large_wards;

-- case: copies by a table of released groups
-- attack: public tables multiply rows
-- outcome: accepted
SELECT SUM(p.age) AS s FROM patients p CROSS JOIN (SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC LIMIT 3) c;

-- case: the same table three times
-- attack: union copies
-- outcome: accepted
SELECT SUM(age) AS s FROM (SELECT patient_id, age FROM patients UNION ALL SELECT patient_id, age FROM patients UNION ALL SELECT patient_id, age FROM patients);

-- case: the same table by name in a union of another order
-- attack: union copies
-- outcome: accepted
SELECT SUM(age) AS s FROM (SELECT patient_id, age FROM patients UNION ALL BY NAME SELECT age, patient_id FROM adults);

-- case: a union whose sides call the unit alike
-- attack: union copies
-- outcome: refused D406 at 1:72
SELECT COUNT(*) FROM (SELECT patient_id FROM patients UNION ALL SELECT place_id AS patient_id FROM visits);

-- case: the unit in another position
-- attack: union copies
-- outcome: refused D406 at 1:77
SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients UNION ALL SELECT age, patient_id FROM patients);

-- case: copies that WITH hides
-- attack: union copies
-- outcome: accepted
WITH a AS (SELECT patient_id, age FROM patients), b AS (FROM a UNION ALL FROM a), c AS (FROM b UNION ALL FROM b) SELECT SUM(age) AS s, COUNT(*) AS n FROM c;

-- case: copies under a count of the units
-- attack: union copies
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) AS n FROM (FROM (SELECT patient_id FROM visits) UNION ALL FROM (SELECT patient_id FROM patients));

-- case: one person decides an element
-- attack: set operations
-- outcome: refused D406 at 1:70
SELECT COUNT(*) AS n FROM (SELECT age FROM patients INTERSECT SELECT minutes FROM visits);

-- case: one person takes an element away
-- attack: set operations
-- outcome: refused D406 at 1:68
SELECT COUNT(*) AS n FROM (SELECT city FROM patients EXCEPT SELECT city FROM places);

-- case: elements of the unit's own
-- attack: set operations
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id, place_id FROM visits EXCEPT ALL SELECT patient_id, age FROM patients);

-- case: elements of the unit's own on both sides
-- attack: set operations
-- outcome: accepted
SELECT SUM(minutes) AS s FROM (SELECT patient_id, minutes FROM visits INTERSECT ALL SELECT patient_id, age FROM patients);

-- case: public rows without the private ones
-- attack: set operations
-- outcome: refused D406 at 1:8
-- instead: SELECT city FROM places EXCEPT SELECT city FROM patients GROUP BY city
SELECT city FROM places EXCEPT SELECT city FROM patients;

-- case: a name for the unit on one side only
-- attack: set operations
-- outcome: refused D406 at 1:76
SELECT COUNT(*) FROM (SELECT patient_id, kind FROM visits INTERSECT SELECT visit_id, kind FROM visits);

-- case: released sets are free
-- attack: set operations
-- outcome: accepted
SELECT city FROM patients GROUP BY city INTERSECT SELECT city FROM places;

-- case: a clip above what anybody has
-- attack: options that move the clip
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM visits WHERE minutes > 0;
SELECT OPTIONS(max_rows_contributed = 10000) COUNT(*) AS n FROM visits WHERE minutes > 0;

-- case: a clip of one row
-- attack: options that move the clip
-- outcome: accepted
-- oracle: no-meaning (clipped at one row)
-- plain: SELECT kind, SUM(cost) AS s FROM visits GROUP BY kind;
SELECT OPTIONS(max_rows_contributed = 1) kind, SUM(cost) AS s FROM visits GROUP BY kind;

-- case: a clip over groups that are no groups
-- attack: options that move the clip
-- outcome: accepted
-- oracle: no-meaning (clipped at one row)
-- plain: SELECT place_id, kind, COUNT(*) AS n FROM visits GROUP BY place_id, kind;
SELECT OPTIONS(max_groups_contributed = 1) place_id, kind, COUNT(*) AS n FROM visits GROUP BY place_id, kind;

-- case: a clip below the join that multiplies
-- attack: options that move the clip
-- outcome: refused D252 at 1:43
SELECT SUM(s.n) AS n FROM (SELECT OPTIONS(rows_per_unit = 1) patient_id, 1 AS n FROM visits) s, range(100);

-- case: the same set of groups many times
-- attack: public tables multiply rows
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((ward), (ward), (), ());

-- case: many rows of a unit in all combinations
-- attack: public tables multiply rows
-- outcome: accepted
SELECT kind, urgent, place_id, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY CUBE (kind, urgent, place_id);

-- case: a total beside groups of many rows
-- attack: public tables multiply rows
-- outcome: accepted
SELECT kind, SUM(minutes) AS s, GROUPING(kind) AS g FROM visits GROUP BY ROLLUP (kind) HAVING SUM(minutes) > 0;

-- case: subtotals inside one unit
-- attack: public tables multiply rows
-- outcome: refused D252 at 1:94
SELECT SUM(n) AS n FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY ROLLUP (patient_id, kind));

-- case: subtotals of each unit
-- attack: public tables multiply rows
-- outcome: refused D252 at 1:94
SELECT SUM(n) AS n FROM (SELECT patient_id, kind, urgent, COUNT(*) AS n FROM visits GROUP BY patient_id, CUBE (kind, urgent));

-- case: doubles kept in one unit
-- attack: set operations
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id, kind FROM visits INTERSECT ALL SELECT patient_id, kind FROM visits WHERE urgent);

-- case: doubles taken away in one unit
-- attack: set operations
-- outcome: accepted
SELECT SUM(x) AS x FROM (SELECT patient_id, 1 AS x FROM visits EXCEPT ALL SELECT patient_id, 1 FROM visits WHERE urgent);

-- case: a chain of keys, and everybody kept
-- attack: joins that fan out
-- outcome: accepted
SELECT SUM(v.cost) AS s FROM visits v JOIN treatments t ON t.visit_id = v.visit_id JOIN reactions r ON r.treatment_id = t.treatment_id FULL JOIN patients p ON p.patient_id = v.patient_id;

-- case: pairs of the rows of one unit
-- attack: joins that fan out
-- outcome: accepted
SELECT SUM(a.cost) AS s FROM visits a JOIN visits b USING (patient_id) WHERE a.visit_id <> b.visit_id;

-- case: the unit through a third table
-- attack: joins that fan out
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients a JOIN patients b ON a.patient_id = b.patient_id JOIN visits v ON v.patient_id = b.patient_id AND v.minutes = a.age;

-- case: a number of each unit beside each of its rows
-- attack: joins that fan out
-- outcome: accepted
SELECT SUM(a.n) AS s FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) a JOIN visits v USING (patient_id);

-- case: copies counted in a window
-- attack: public tables multiply rows
-- outcome: accepted
SELECT SUM(n) AS s FROM (SELECT patient_id, SUM(1) OVER (PARTITION BY patient_id) AS n FROM visits, range(50));

-- case: an average beside sums whose crossing conditions make a cell of its rows
-- attack: many rows of one unit
-- outcome: accepted
-- policy: pure.toml
SELECT kind, AVG(cost) FILTER (WHERE place_id > 1 AND visit_id > 0) AS a, SUM(cost) FILTER (WHERE place_id > 1) AS b, SUM(cost) FILTER (WHERE visit_id > 0) AS c FROM visits GROUP BY kind;

-- case: the same in branches
-- attack: many rows of one unit
-- outcome: accepted
-- policy: pure.toml
SELECT kind, AVG(CASE WHEN place_id > 1 AND visit_id > 0 THEN cost END) AS a, SUM(CASE WHEN place_id > 1 THEN cost END) AS b, SUM(CASE WHEN visit_id > 0 THEN cost END) AS c FROM visits GROUP BY kind;
