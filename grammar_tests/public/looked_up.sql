-- Columns of public rows beside private counts: what the group's keys determine is exact and costs nothing.

-- case: the largest of a column that the key determines
-- outcome: accepted
SELECT w.ward, MAX(w.beds) AS beds, COUNT(p.patient_id) AS n FROM patients p JOIN wards w ON p.ward = w.ward GROUP BY w.ward;

-- case: by the private side of the join, which is equal
-- outcome: accepted
SELECT p.ward, MIN(w.beds) AS beds, ANY_VALUE(w.floor) AS floor, AVG(age) AS age FROM patients p JOIN wards w ON w.ward = p.ward GROUP BY p.ward;

-- case: where no public row may be met
-- outcome: accepted
SELECT p.ward, MAX(w.floor) AS floor, COUNT(*) AS n FROM patients p LEFT JOIN wards w USING (ward) GROUP BY p.ward;

-- case: by the first and the last of alike ones, in HAVING and ORDER BY
-- outcome: accepted
SELECT w.ward, FIRST(w.beds) AS beds, COUNT(*) AS n FROM patients p JOIN wards w USING (ward) GROUP BY w.ward HAVING MAX(w.beds) > 9 ORDER BY LAST(w.beds);

-- case: the key itself
-- outcome: accepted
SELECT ward, MAX(ward) AS same, arbitrary(ward) AS again, COUNT(*) AS n FROM patients GROUP BY ward;

-- case: an expression that is the key
-- outcome: accepted
SELECT age // 10 AS decade, MIN(age // 10) AS same, COUNT(*) AS n FROM patients GROUP BY age // 10;

-- case: a private key that determines a place
-- outcome: accepted
SELECT place_id, ANY_VALUE(q.city) AS city, MAX(q.kind) AS kind, COUNT(*) AS n FROM visits v JOIN places q USING (place_id) GROUP BY place_id;

-- case: rows of a public subquery
-- outcome: accepted
SELECT p.ward, MAX(b.beds) AS beds, COUNT(*) AS n
FROM patients p JOIN (SELECT ward, beds FROM wards WHERE beds > 1) b ON b.ward = p.ward GROUP BY p.ward;

-- case: rows of a public view
-- outcome: accepted
SELECT p.ward, MAX(l.places) AS beds, SUM(p.age) AS age FROM patients p JOIN large_wards l USING (ward) GROUP BY p.ward;

-- case: through a subquery, under other names
-- outcome: accepted
SELECT where_, MAX(many) AS many, COUNT(*) AS n FROM (
    SELECT p.patient_id, p.ward AS where_, w.beds AS many FROM patients p JOIN wards w USING (ward) WHERE age > 1)
GROUP BY where_;

-- case: the largest of a column that no key determines has noise
-- outcome: accepted
-- oracle: no-meaning (some rows lie beyond it)
SELECT w.floor, MAX(w.beds) AS beds, COUNT(*) AS n FROM patients p JOIN wards w USING (ward) GROUP BY w.floor;

-- case: of subtotals, which are of many wards
-- outcome: accepted
-- oracle: no-meaning (some rows lie beyond it)
SELECT w.ward, MAX(w.beds) AS beds, COUNT(*) AS n FROM patients p JOIN wards w USING (ward) GROUP BY ROLLUP (w.ward);

-- case: under a condition of private rows, which tells of them
-- outcome: accepted
-- oracle: no-meaning (some rows lie beyond it)
SELECT w.ward, MAX(w.beds) FILTER (WHERE p.age > 50) AS beds FROM patients p JOIN wards w USING (ward) GROUP BY w.ward;

-- case: joined by no equality
-- outcome: accepted
-- oracle: no-meaning (some rows lie beyond it)
SELECT w.ward, MAX(w.beds) AS beds, COUNT(*) AS n FROM patients p JOIN wards w ON p.age > w.beds GROUP BY w.ward;
