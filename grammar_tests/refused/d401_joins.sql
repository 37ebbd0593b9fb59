-- D401: private tables are not joined on the unit.

-- case: on another column
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients p JOIN visits v ON p.age = v.minutes;

-- case: a self join on a group
-- outcome: refused D401 at 1:38
-- instead: SELECT a.ward, a.n * b.n AS pairs FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) a JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) b USING (ward)
SELECT COUNT(*) FROM patients a JOIN patients b USING (ward);

-- case: a cross join
-- outcome: refused D401 at 1:42
-- instead: SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient_id = p.patient_id
SELECT COUNT(*) FROM patients CROSS JOIN visits;

-- case: a comma without a condition
-- outcome: refused D401 at 1:36
SELECT SUM(p.age) FROM patients p, visits v WHERE v.cost > 10;

-- case: the unit unequal
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients a JOIN patients b ON a.patient_id <> b.patient_id AND a.ward = b.ward;

-- case: the unit or something else
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients p JOIN visits v ON p.patient_id = v.patient_id OR p.age > 40;

-- case: the unit as a text
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients p JOIN visits v ON p.patient_id::VARCHAR = v.patient_id::VARCHAR;

-- case: the unit missing behind a subquery
-- outcome: refused D401 at 1:46
SELECT COUNT(*) FROM patients p JOIN (SELECT ward, cost FROM visits JOIN patients USING (patient_id)) v ON v.ward = p.ward;

-- case: a left join on a date
-- outcome: refused D401 at 1:41
SELECT COUNT(*) FROM visits v LEFT JOIN sales.orders o ON o.placed_at::DATE = v.visited_on;

-- case: a chain that skips its link
-- outcome: refused D401 at 1:40
SELECT COUNT(*) FROM treatments t JOIN visits v ON t.given_on = v.visited_on;

-- case: two private tables on a public column
-- outcome: refused D401 at 1:77
SELECT COUNT(*) FROM visits a JOIN places l ON l.place_id = a.place_id JOIN visits b ON b.place_id = l.place_id;

-- case: the unit's equality in a CASE
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients p JOIN visits v ON CASE WHEN p.smoker THEN p.patient_id = v.patient_id ELSE TRUE END;

-- case: the equality as a double negation
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients p JOIN visits v ON NOT (p.patient_id <> v.patient_id);

-- case: a per-unit table joined on its number
-- outcome: refused D401 at 1:46
SELECT COUNT(*) FROM patients p JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS c ON c.n = p.children;

-- case: the unit changed by arithmetic
-- outcome: refused D401 at 1:38
SELECT COUNT(*) FROM patients p JOIN visits v ON p.patient_id = v.patient_id + 1;

-- case: the unit replaced in a star
-- outcome: refused D401 at 1:46
SELECT COUNT(*) FROM patients p JOIN (SELECT * REPLACE (place_id AS patient_id) FROM visits) v USING (patient_id);

-- case: two columns that change their names
-- outcome: refused D401 at 2:14
SELECT COUNT(*) FROM patients p
JOIN (SELECT * RENAME (patient_id AS place_id, place_id AS patient_id) FROM visits) v USING (patient_id);

-- case: two views joined on something else
-- outcome: refused D401 at 1:35
SELECT COUNT(*) FROM stays s JOIN adults a ON s.ward = a.ward;

-- case: a join to one side of a FULL join
-- outcome: refused D401 at 1:76
SELECT COUNT(*) FROM treatments t FULL JOIN visits v USING (visit_id) JOIN patients p ON p.patient_id = v.patient_id;

-- case: a number of other rows beside a key that tells the unit
-- outcome: refused D401 at 1:41
SELECT COUNT(*) AS n FROM visits v JOIN sales.orders o ON v.steps = o.order_id;
