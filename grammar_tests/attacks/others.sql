-- Looking at other people's rows from one's own: a change of one person must not move the others.

-- case: everybody's sum of the largest
-- attack: windows over users
-- outcome: refused D254 at 1:37
SELECT SUM(m) AS s FROM (SELECT MAX(income) OVER () AS m, patient_id FROM patients) WHERE m > 0;

-- case: the largest of each ward behind a condition
-- attack: windows over users
-- outcome: refused D254 at 1:52
SELECT COUNT(*) FROM (SELECT patient_id, age = MAX(age) OVER (PARTITION BY ward) AS oldest FROM patients) WHERE oldest;

-- case: a partition by a column called as the unit
-- attack: windows over users
-- outcome: refused D254 at 1:57
SELECT SUM(n) AS s FROM (SELECT place_id AS patient_id, COUNT(*) OVER (PARTITION BY patient_id) AS n FROM (SELECT place_id, place_id AS patient_id FROM visits));

-- case: a partition by the unit of the other table
-- attack: windows over users
-- outcome: refused D401 at 1:129
SELECT COUNT(*) AS n FROM (SELECT v.cost, RANK() OVER (PARTITION BY p.patient_id ORDER BY v.cost) AS r FROM visits v CROSS JOIN patients p) WHERE r = 1;

-- case: a partition by a unit that an outer join leaves empty
-- attack: windows over users
-- outcome: refused D254 at 1:33
SELECT SUM(n) AS n FROM (SELECT COUNT(*) OVER (PARTITION BY p.patient_id) AS n FROM visits v LEFT JOIN patients p ON p.patient_id = v.patient_id AND p.smoker);

-- case: the row before, over the unit and a constant
-- attack: windows over users
-- outcome: refused D254 at 1:40
SELECT AVG(d) AS d FROM (SELECT cost - LAG(cost) OVER (PARTITION BY patient_id % 1 ORDER BY visit_id) AS d FROM visits);

-- case: QUALIFY by the sum of all before
-- attack: windows over users
-- outcome: refused D254 at 1:63
SELECT COUNT(*) FROM (SELECT patient_id FROM patients QUALIFY SUM(income) OVER (ORDER BY income) < 1000000);

-- case: a window behind a partition of the unit, over the others
-- attack: windows over users
-- outcome: refused D254 at 1:33
SELECT SUM(x) AS x FROM (SELECT SUM(n) OVER (ORDER BY n) AS x FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id));

-- case: gaps filled from the neighbours
-- attack: windows over users
-- outcome: refused D254 at 1:28
SELECT AVG(f) FROM (SELECT fill(income) OVER (ORDER BY age) AS f FROM patients);

-- case: the visits of each place in a condition of QUALIFY
-- attack: windows over users
-- outcome: refused D254 at 1:128
SELECT COUNT(*) FROM (SELECT patient_id, place_id FROM visits QUALIFY COUNT(*) OVER (PARTITION BY place_id, patient_id) > 1 OR COUNT(*) OVER (PARTITION BY place_id) > 2);

-- case: a window of one unit is its own affair
-- attack: windows over users
-- outcome: accepted
SELECT AVG(share) AS share FROM (SELECT minutes / NULLIF(SUM(minutes) OVER (PARTITION BY patient_id), 0) AS share FROM visits) WHERE share BETWEEN 0 AND 1;

-- case: a mean of the others as the mark
-- attack: subqueries across users
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p WHERE p.income > (SELECT AVG(q.income) FROM patients q WHERE q.ward = p.ward);

-- case: public rows counted out by a person's age
-- attack: subqueries across users
-- outcome: refused D402 at 1:51
SELECT city FROM places WHERE place_id <= (SELECT age FROM patients WHERE patient_id = 4);

-- case: public rows by a person's existence
-- attack: subqueries across users
-- outcome: refused D405 at 1:46
SELECT city FROM places WHERE EXISTS (SELECT 1 FROM patients WHERE patients.city = places.city);

-- case: public rows that no person has
-- attack: subqueries across users
-- outcome: refused D405 at 1:52
SELECT kind FROM tariffs WHERE kind NOT IN (SELECT kind FROM visits);

-- case: a semi-join on what many share
-- attack: subqueries across users
-- outcome: refused D401 at 1:43
SELECT COUNT(*) FROM patients p SEMI JOIN visits v ON p.age = v.minutes;

-- case: an anti-join on what many share
-- attack: subqueries across users
-- outcome: refused D401 at 1:43
SELECT COUNT(*) FROM patients p ANTI JOIN patients q ON p.age < q.age;

-- case: an anti-join on others
-- attack: subqueries across users
-- outcome: refused D401 at 1:43
SELECT COUNT(*) FROM patients p ANTI JOIN patients q ON p.patient_id <> q.patient_id;

-- case: one's own rows under the condition of others
-- attack: subqueries across users
-- outcome: refused D401 at 1:75
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v JOIN patients q ON q.patient_id <> v.patient_id WHERE v.patient_id = p.patient_id);

-- case: the unit among other units' rows
-- attack: subqueries across users
-- outcome: refused D255 at 1:37
SELECT COUNT(*) FROM visits v WHERE v.patient_id IN (SELECT o.patient_id + 1 FROM sales.orders o);

-- case: the unit among renamed columns
-- attack: subqueries across users
-- outcome: refused D255 at 1:39
SELECT COUNT(*) FROM patients p WHERE p.patient_id IN (SELECT q.patient_id FROM (SELECT age AS patient_id FROM patients) q);

-- case: the unit tied by OR
-- attack: subqueries across users
-- outcome: refused D255 at 1:54
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id OR v.minutes > 400);

-- case: a subquery in a filter
-- attack: subqueries across users
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT COUNT(*) FILTER (WHERE age > (SELECT MAX(minutes) FROM visits)) FROM patients;

-- case: a subquery of raw rows in a join condition
-- attack: subqueries across users
-- outcome: refused D255 at 1:103
-- instead: SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient_id = p.patient_id WHERE v.cost > (SELECT MAX(cost) FROM visits)
SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient_id = p.patient_id AND v.cost > (SELECT MAX(cost) FROM visits);

-- case: a released mark is everybody's
-- attack: subqueries across users
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p WHERE p.income > (SELECT AVG(q.income) FROM patients q) AND p.smoker;

-- case: keys released before choose public rows
-- attack: subqueries across users
-- outcome: accepted
SELECT city FROM places WHERE city IN (SELECT city FROM patients GROUP BY city);

-- case: a row of values with one person's in it
-- attack: subqueries across users
-- outcome: refused D255 at 1:38
SELECT COUNT(*) FROM patients WHERE (ward, sex) IN (SELECT ward, sex FROM patients WHERE patient_id = 0);

-- case: distinct incomes counted
-- attack: distinct values
-- outcome: accepted
SELECT COUNT(DISTINCT income) FROM patients WHERE sex = 'F';

-- case: the values of one patient who has many
-- attack: distinct values
-- outcome: accepted
-- oracle: no-meaning (one treatment of a patient is counted)
-- plain: SELECT COUNT(DISTINCT treatment_id) AS n FROM treatments
SELECT OPTIONS(max_values_contributed = 1) COUNT(DISTINCT treatment_id) AS n FROM treatments;

-- case: values that a patient alone has, in groups that nobody else is in
-- attack: distinct values
-- outcome: accepted
-- oracle: no-meaning (a patient has more groups and values than it may claim)
SELECT drug, dose, COUNT(DISTINCT treatment_id) AS n, COUNT(DISTINCT given_on) AS days FROM treatments GROUP BY drug, dose;

-- case: distinct values summed
-- attack: distinct values
-- outcome: refused D253 at 1:8
SELECT SUM(DISTINCT minutes) FROM visits;

-- case: distinct rows without their unit
-- attack: distinct values
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT DISTINCT city, ward FROM patients);

-- case: distinct rows without their unit, summed
-- attack: distinct values
-- outcome: accepted
SELECT SUM(age) AS s FROM (SELECT DISTINCT age, sex FROM patients WHERE smoker);

-- case: one row of each kind
-- attack: distinct values
-- outcome: refused D254 at 1:43
SELECT COUNT(*) FROM (SELECT DISTINCT ON (kind) patient_id, kind FROM visits ORDER BY kind, cost);

-- case: union that throws doubles of others away
-- attack: distinct values
-- outcome: refused D406 at 1:66
SELECT COUNT(*) AS n FROM (SELECT age FROM patients UNION SELECT minutes FROM visits);

-- case: distinct rows of one unit
-- attack: distinct values
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id, kind, urgent FROM visits);

-- case: a sample with the analyst's seed
-- attack: row picking
-- outcome: refused D105 at 1:44
SELECT COUNT(*) FROM patients USING SAMPLE 10 PERCENT (bernoulli, 42);

-- case: a sample of a subquery
-- attack: row picking
-- outcome: refused D105 at 1:78
SELECT COUNT(*) FROM (SELECT patient_id FROM patients TABLESAMPLE RESERVOIR (5 ROWS)) AS s;

-- case: the richest by LIMIT in IN
-- attack: row picking
-- outcome: refused D252 at 1:93
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM patients ORDER BY income DESC LIMIT 1);

-- case: the first rows of a union
-- attack: row picking
-- outcome: refused D252 at 1:115
SELECT SUM(age) FROM (SELECT patient_id, age FROM patients UNION ALL SELECT patient_id, minutes FROM visits LIMIT 3);

-- case: rows skipped within WITH
-- attack: row picking
-- outcome: refused D252 at 1:59
WITH p AS (SELECT patient_id, city FROM patients ORDER BY age OFFSET 20) SELECT city, COUNT(*) FROM p GROUP BY city;

-- case: the first visit of each, which is one's own
-- attack: row picking
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (SELECT patient_id, kind FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_id) = 1) GROUP BY kind;

-- case: everybody's number if one exists
-- attack: branches on others
-- outcome: accepted
SELECT SUM(CASE WHEN (SELECT COUNT(*) FROM patients WHERE city = 'Longyearbyen') > 0.5 THEN 100 ELSE 0 END) AS s FROM patients;

-- case: everybody's number if one exists, by IN
-- attack: branches on others
-- outcome: refused D255 at 1:22
SELECT SUM(CASE WHEN 'Longyearbyen' IN (SELECT city FROM patients) THEN 100 ELSE 0 END) FROM patients;

-- case: everybody's number if none has more
-- attack: branches on others
-- outcome: refused D255 at 1:58
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM patients q WHERE q.income > 480000) AND p.smoker;

-- case: a filter on somebody's existence
-- attack: branches on others
-- outcome: refused D255 at 1:46
SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM patients q WHERE q.city = 'Longyearbyen')) FROM patients;

-- case: a coalesce over somebody's value
-- attack: branches on others
-- outcome: refused D255 at 1:29
SELECT SUM(COALESCE((SELECT q.age FROM patients q WHERE q.patient_id = 0), p.age)) FROM patients p;

-- case: rows by the release of their group
-- attack: subqueries across users
-- outcome: accepted
SELECT p.ward, COUNT(*) AS n FROM patients p JOIN (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) c ON c.city = p.city AND c.n > 1 GROUP BY p.ward;

-- case: what no release matches
-- attack: subqueries across users
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v LEFT JOIN (SELECT kind, AVG(cost) AS m FROM visits GROUP BY kind) k ON k.kind = v.kind AND k.m < v.cost WHERE k.kind IS NULL;

-- case: a number if the released group is large
-- attack: branches on others
-- outcome: accepted
SELECT SUM(CASE WHEN r.n > 3 THEN 1000 ELSE p.age END) AS s FROM patients p LEFT JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) r USING (ward);

-- case: one's own count beside the released mean
-- attack: branches on others
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id) = (SELECT ROUND(AVG(n)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id));

-- case: keys around a released mean
-- attack: subqueries across users
-- outcome: accepted
SELECT p.age - (SELECT AVG(q.age) FROM patients q) AS d, COUNT(*) AS n FROM patients p GROUP BY d;

-- case: the first row by a unit that may be missing
-- attack: windows over users
-- outcome: refused D254 at 1:46
SELECT SUM(x) AS s FROM (SELECT DISTINCT ON (o.patient_id) v.minutes AS x, o.patient_id FROM visits v LEFT JOIN sales.orders o ON v.patient_id = o.patient_id ORDER BY v.visit_id);

-- case: a partition by a key that determines the unit
-- attack: windows over users
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT * FROM visits QUALIFY COUNT(*) OVER (PARTITION BY visit_id) = 1);

-- case: all of one's own others
-- attack: subqueries across users
-- outcome: refused D255 at 1:42
SELECT COUNT(*) AS n FROM visits a WHERE a.minutes > ALL (SELECT b.minutes FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id <> a.visit_id);
