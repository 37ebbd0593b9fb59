-- D255: subqueries over private rows that are neither per unit nor a release, or are still to come.

-- case: a choice by somebody's existence
-- outcome: refused D255 at 1:37
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM patients WHERE city = 'Longyearbyen') THEN 100 ELSE 0 END) FROM patients;

-- case: somebody else's value
-- outcome: refused D255 at 1:37
SELECT COUNT(*) FROM patients WHERE age IN (SELECT age FROM patients WHERE patient_id = 3);

-- case: somebody with the same age
-- outcome: refused D255 at 2:22
-- instead: SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.minutes > p.age)
SELECT COUNT(*) FROM patients p
WHERE EXISTS (SELECT 1 FROM patients q WHERE q.age = p.age AND q.patient_id <> p.patient_id);

-- case: a value of one row among constants
-- outcome: refused D402 at 1:20
VALUES (1, (SELECT age FROM patients WHERE patient_id = 3));

-- case: all of the others
-- outcome: refused D255 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE income >= (SELECT MAX(income) FROM patients)
SELECT COUNT(*) FROM patients WHERE income >= ALL (SELECT income FROM patients);

-- case: any of the others
-- outcome: refused D255 at 1:37
SELECT COUNT(*) FROM patients WHERE age = ANY (SELECT minutes FROM visits);

-- case: other than one of several
-- outcome: refused D255 at 1:47
-- instead: SELECT COUNT(*) FROM patients WHERE smoker OR age <> (SELECT MIN(low) FROM age_bands) OR age <> (SELECT MAX(low) FROM age_bands)
SELECT COUNT(*) FROM patients WHERE smoker OR age <> ANY (SELECT low FROM age_bands);

-- case: one NULL would empty everybody's list
-- outcome: refused D255 at 1:35
-- instead: SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.visit_id = v.visit_id AND w.kind = 'surgery')
SELECT COUNT(*) FROM visits WHERE visit_id NOT IN (SELECT visit_id FROM visits WHERE kind = 'surgery');

-- case: what anybody has had, in an expression
-- outcome: refused D255 at 1:22
-- instead: SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.place_id = v.place_id AND w.urgent) THEN 1 ELSE 0 END) FROM visits v
SELECT SUM(CASE WHEN place_id IN (SELECT place_id FROM visits WHERE urgent) THEN 1 ELSE 0 END) FROM visits;

-- case: whether the others have any
-- outcome: refused D255
SELECT COUNT(*) FROM patients WHERE EXISTS (SELECT 1 FROM visits WHERE cost > 4000);

-- case: whether the others have none, in an expression
-- outcome: refused D255
SELECT COUNT(*) FROM patients WHERE age > 50 OR NOT EXISTS (SELECT 1 FROM visits WHERE cost > 4000);

-- case: tied by an inequality, in an expression
-- outcome: refused D255
-- instead: SELECT COUNT(*) FROM patients p LEFT JOIN (SELECT a.patient_id, COUNT(*) AS n FROM patients a JOIN visits b ON a.patient_id = b.patient_id AND b.minutes > a.age GROUP BY a.patient_id) AS s USING (patient_id) WHERE p.smoker OR s.n > 1
SELECT COUNT(*) FROM patients p WHERE p.smoker OR (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id AND v.minutes > p.age) > 1;

-- case: the nearest public row
-- outcome: refused D255
-- instead: SELECT COUNT(*) FROM patients p JOIN (SELECT r.age, b.high FROM range(0, 121) AS r(age) ASOF JOIN age_bands b ON r.age >= b.low) AS s USING (age) WHERE s.high < 100
SELECT COUNT(*) FROM patients p WHERE (SELECT b.high FROM age_bands b WHERE b.low <= p.age ORDER BY b.low DESC LIMIT 1) < 100;

-- case: public rows up to the row's value
-- outcome: refused D255
-- instead: SELECT COUNT(*) FROM patients p JOIN (SELECT r.age, COUNT(*) AS n FROM range(0, 121) AS r(age) JOIN age_bands b ON b.low <= r.age GROUP BY r.age) AS s USING (age) WHERE s.n > 1
SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM age_bands b WHERE b.low <= p.age) > 1;

-- case: tied to another column of the others
-- outcome: refused D255
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM patients q WHERE q.ward = p.ward AND q.age > p.age);

-- case: one value among several of the unit
-- outcome: refused D255
SELECT COUNT(*) FROM patients p WHERE (SELECT v.kind FROM visits v WHERE v.patient_id = p.patient_id) = 'surgery';

-- case: a release that may have several rows
-- outcome: refused D255
-- instead: SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) AS c FROM visits GROUP BY kind ORDER BY c DESC LIMIT 1)
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits GROUP BY kind);

-- case: two levels out
-- outcome: refused D255
-- instead: SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v JOIN treatments t ON t.visit_id = v.visit_id WHERE v.patient_id = p.patient_id AND t.dose > p.age)
SELECT COUNT(*) FROM patients p WHERE EXISTS (
    SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id
        AND EXISTS (SELECT 1 FROM treatments t WHERE t.visit_id = v.visit_id AND t.dose > p.age));

-- case: a set of rows tied to the row around
-- outcome: refused D255
-- instead: SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id) OR EXISTS (SELECT 1 FROM calls c WHERE c.patient_id = p.patient_id)
SELECT COUNT(*) FROM patients p WHERE EXISTS (
    SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id UNION ALL SELECT 1 FROM calls c WHERE c.patient_id = p.patient_id);

-- case: rows skipped
-- outcome: refused D255
-- instead: SELECT COUNT(*) FROM patients p WHERE p.age > (SELECT MAX(minutes) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY minutes) AS i FROM visits) v WHERE v.patient_id = p.patient_id AND v.i = 2)
SELECT COUNT(*) FROM patients p WHERE p.age > (
    SELECT v.minutes FROM visits v WHERE v.patient_id = p.patient_id ORDER BY v.minutes LIMIT 1 OFFSET 1);

-- case: one value among several of a release
-- outcome: refused D255
WITH r AS (SELECT kind, urgent, COUNT(*) AS n FROM visits GROUP BY ALL)
SELECT COUNT(*) FROM visits v WHERE (SELECT n FROM r WHERE r.kind = v.kind) > 10;

-- case: a share of a release is no number of rows
-- outcome: refused D255
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits GROUP BY kind LIMIT 1%);

-- case: grouped again, so several rows
-- outcome: refused D255
SELECT COUNT(*) FROM patients p
WHERE age > (SELECT AVG(q.age) FROM patients q WHERE q.ward = p.ward GROUP BY ROLLUP (q.sex));

-- case: a public value that may be several
-- outcome: refused D255 at 1:47
-- instead: SELECT COUNT(*) FROM patients p WHERE (SELECT MAX(tag) FROM place_tags t WHERE t.place_id = p.children) IS NOT NULL
SELECT COUNT(*) FROM patients p WHERE (SELECT tag FROM place_tags t WHERE t.place_id = p.children) IS NOT NULL;

-- case: a window's row that may be several
-- outcome: refused D255 at 1:54
SELECT COUNT(*) FROM visits v WHERE v.cost = (SELECT w.cost FROM visits w WHERE w.patient_id = v.patient_id
    QUALIFY row_number() OVER (PARTITION BY w.visit_id) = 1);

-- case: two columns behind IN and an aggregate
-- outcome: refused D255 at 2:8
SELECT COUNT(*) FROM patients p
WHERE (p.age, 1) IN (SELECT MAX(minutes), COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id);

-- case: IN of what HAVING may drop
-- outcome: refused D255 at 2:7
-- instead: SELECT COUNT(*) FROM patients p WHERE p.age NOT IN (SELECT MAX(minutes) FROM visits v WHERE v.patient_id = p.patient_id GROUP BY patient_id HAVING COUNT(*) > 1)
SELECT COUNT(*) FROM patients p
WHERE p.age NOT IN (SELECT MAX(minutes) FROM visits v WHERE v.patient_id = p.patient_id HAVING COUNT(*) > 1);

-- case: DISTINCT ON among tied rows
-- outcome: refused D255 at 2:7
-- instead: SELECT COUNT(*) FROM visits v WHERE v.cost IN (SELECT w.cost FROM visits w WHERE w.patient_id = v.patient_id QUALIFY ROW_NUMBER() OVER (PARTITION BY w.patient_id, w.kind ORDER BY w.cost) = 1)
SELECT COUNT(*) FROM visits v
WHERE v.cost IN (SELECT DISTINCT ON (w.kind) w.cost FROM visits w WHERE w.patient_id = v.patient_id ORDER BY w.cost);

-- case: a name hidden by the inner table
-- outcome: refused D255 at 1:54
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits WHERE patient_id = patient_id);

-- case: three outcomes of groups
-- outcome: refused D255
SELECT COUNT(*) FROM patients p
WHERE p.smoker OR p.age IN (SELECT MAX(v.minutes) FROM visits v WHERE v.patient_id = p.patient_id GROUP BY v.kind);

-- case: rows of others, by an inequality within an expression
-- outcome: refused D255
-- instead: SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.cost > a.cost)) AS n FROM visits a
SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM visits b WHERE b.place_id = a.place_id AND b.cost > a.cost)) AS n FROM visits a;

-- case: one of two terms
-- outcome: refused D255
SELECT COUNT(*) FROM patients
WHERE income > (SELECT coefficient FROM DP_LINEAR((SELECT income, age FROM patients)) WHERE term = '(intercept)' OR term = 'age');

-- case: a release held by one of its two keys
-- outcome: refused D255
SELECT COUNT(*) FROM visits
WHERE cost > (SELECT c FROM (SELECT kind, urgent, AVG(cost) AS c FROM visits GROUP BY kind, urgent) WHERE kind = 'checkup');

-- case: a text held by a number
-- outcome: refused D255
SELECT COUNT(*) FROM visits
WHERE cost > (SELECT c FROM (SELECT kind, AVG(cost) AS c FROM visits GROUP BY kind) WHERE kind = 1);

-- case: a day that may be no day
-- outcome: refused D255
SELECT COUNT(*) FROM visits
WHERE cost > (SELECT c FROM (SELECT visited_on, AVG(cost) AS c FROM visits GROUP BY visited_on) WHERE visited_on = 'monday');

-- case: two queries further out
-- outcome: refused D255 at 2:24
-- instead: SELECT p.place_id, (SELECT AVG(v.cost) FROM visits v WHERE v.place_id = p.place_id AND v.cost > (SELECT AVG(w.cost) FROM visits w WHERE w.place_id = v.place_id)) AS a FROM places p
SELECT p.place_id, (SELECT AVG(v.cost) FROM visits v WHERE v.place_id = p.place_id
  AND v.cost > (SELECT AVG(w.cost) FROM visits w WHERE w.place_id = p.place_id)) AS a FROM places p;
