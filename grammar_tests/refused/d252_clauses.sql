-- D252: clauses that are not answered over private rows.

-- case: the first rows inside
-- outcome: refused D252 at 1:63
-- instead: SELECT AVG(income) AS a FROM patients WHERE income > (SELECT AVG(income) FROM patients)
SELECT AVG(income) FROM (SELECT income FROM patients ORDER BY income DESC LIMIT 1);

-- case: some rows inside, in no order
-- outcome: refused D252 at 1:54
SELECT AVG(age) FROM (SELECT age FROM patients LIMIT 10);

-- case: all rows but the first
-- outcome: refused D252 at 1:57
SELECT AVG(age) FROM (SELECT age FROM patients ORDER BY age OFFSET 3);

-- case: grouping sets of single patients
-- outcome: refused D252 at 1:81
SELECT AVG(n) FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY patient_id, ROLLUP (kind));

-- case: the unit inside a CUBE
-- outcome: refused D252 at 1:62
-- instead: SELECT kind, SUM(n) FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY ALL) GROUP BY ROLLUP (kind)
SELECT patient_id, kind, COUNT(*) FROM visits GROUP BY CUBE (patient_id, kind);

-- case: recursion over private rows
-- outcome: refused D252 at 1:16
-- instead: WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM t WHERE i < 10) SELECT COUNT(*) FROM patients, t WHERE age + i < 9
WITH RECURSIVE t AS (SELECT patient_id, age FROM patients UNION ALL SELECT patient_id, age + 1 FROM t WHERE age < 9)
SELECT COUNT(*) FROM t;

-- case: a limit per unit that a group hides
-- outcome: refused D252 at 1:95
SELECT SUM(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id ORDER BY n DESC LIMIT 3);

-- case: rows side by side by position
-- outcome: refused D252 at 1:47
SELECT COUNT(*) FROM patients POSITIONAL JOIN visits;

-- case: the nearest row
-- outcome: refused D252 at 1:43
-- instead: SELECT COUNT(*) FROM (SELECT p.patient_id FROM patients p JOIN visits v USING (patient_id) WHERE v.seen_at <= p.registered QUALIFY ROW_NUMBER() OVER (PARTITION BY p.patient_id ORDER BY v.seen_at DESC) = 1)
SELECT COUNT(*) FROM patients p ASOF JOIN visits v ON p.patient_id = v.patient_id AND p.registered >= v.seen_at;

-- case: the nearest of public rows
-- outcome: refused D252 at 1:51
-- instead: SELECT s.band, COUNT(*) FROM patients p JOIN (SELECT r.age, b.band FROM range(0, 121) AS r(age) ASOF JOIN age_bands b ON r.age >= b.low) AS s USING (age) GROUP BY s.band
SELECT b.band, COUNT(*) FROM patients p ASOF JOIN age_bands b ON p.age >= b.low GROUP BY b.band;

-- case: rows side by side
-- outcome: refused D252
-- instead: SELECT COUNT(*) FROM patients p JOIN wards w USING (ward)
SELECT COUNT(*) FROM patients p POSITIONAL JOIN wards w;

-- case: as many rows as the age
-- outcome: refused D252 at 1:34
-- instead: SELECT COUNT(*) FROM patients p, range(120) AS r(i) WHERE i < p.age
SELECT COUNT(*) FROM patients p, range(p.age) AS r(i);

-- case: as many rows as somebody is old
-- outcome: refused D252 at 1:22
SELECT COUNT(*) FROM range((SELECT age FROM patients WHERE patient_id = 3)) AS r(i);

-- case: a table made from each row
-- outcome: refused D252 at 1:50
-- instead: SELECT COUNT(*) FROM (SELECT *, age + 1 AS next_age FROM patients)
SELECT COUNT(*) FROM patients p, LATERAL (SELECT p.age + 1 AS next_age) AS n;

-- case: columns turned into rows
-- outcome: refused D252
-- instead: SELECT name, v FROM (SELECT SUM(age) AS a, SUM(children) AS c FROM patients) UNPIVOT (v FOR name IN (a, c))
SELECT SUM(value) FROM (UNPIVOT patients ON age, children INTO NAME name VALUE value);

-- case: a pivot without a list
-- outcome: refused D252 at 1:19
-- instead: PIVOT patients ON city IN ('Oslo', 'Bergen') USING COUNT(*) GROUP BY ward
PIVOT patients ON city USING COUNT(*) GROUP BY ward;

-- case: a second column of values without a list
-- outcome: refused D252 at 1:32
SELECT * FROM (PIVOT visits ON place_id, kind IN ('checkup') USING SUM(cost) GROUP BY urgent);

-- case: a pivot on an expression
-- outcome: refused D252 at 1:19
-- instead: PIVOT (SELECT *, age % 2 AS y FROM patients) ON y IN (0, 1) USING COUNT(*) GROUP BY ward
PIVOT patients ON age % 2 IN (0, 1) USING COUNT(*) GROUP BY ward;

-- case: a filter that a pivot would forget
-- outcome: refused D252 at 1:43
-- instead: PIVOT (SELECT * FROM patients WHERE age > 3) ON sex IN ('F', 'M') USING SUM(age) AS s GROUP BY ward
PIVOT patients ON sex IN ('F', 'M') USING SUM(age) FILTER (WHERE age > 3) GROUP BY ward;

-- case: columns of a private table turned into rows in FROM
-- outcome: refused D252 at 1:22
SELECT COUNT(*) FROM patients UNPIVOT (amount FOR what IN (age, income));

-- case: a list of private rows
-- outcome: refused D252
-- instead: SELECT COUNT(*) FROM unnest([1, 2, 3]) AS u(i)
SELECT COUNT(*) FROM unnest((SELECT list(age) FROM patients)) AS u(i);

-- case: half of the rows inside
-- outcome: refused D252 at 1:58
WITH half AS (SELECT patient_id, age FROM patients LIMIT 50%) SELECT SUM(age) FROM half;

-- case: rows turned into columns that the data names
-- outcome: refused D252 at 1:19
PIVOT patients ON city USING COUNT(*);

-- case: the first rows inside in another spelling
-- outcome: refused D252 at 1:69
SELECT SUM(age) FROM (SELECT patient_id, age FROM patients ORDER BY age FETCH FIRST 5 ROWS ONLY);

-- case: one group for each unit
-- outcome: refused D252 at 1:21
-- instead: SELECT kind, COUNT(*) AS n FROM (SELECT DISTINCT ON (patient_id) * FROM visits ORDER BY kind) GROUP BY kind
SELECT DISTINCT ON (kind) kind, patient_id, COUNT(*) AS n FROM visits GROUP BY kind, patient_id;

-- case: a public join in parentheses behind another
-- outcome: refused D252 at 1:42
-- instead: SELECT w.ward, t.kind FROM wards w JOIN places p ON w.floor = p.place_id JOIN tariffs t ON t.kind = p.kind
SELECT w.ward, t.kind FROM wards w JOIN (places p JOIN tariffs t ON t.kind = p.kind) ON w.floor = p.place_id;

-- case: the items of a list on the kept side
-- outcome: refused D252 at 1:51
-- instead: SELECT COUNT(*) FROM patients p LEFT JOIN unnest(p.allergies) AS u(a) ON true
SELECT COUNT(*) FROM patients p RIGHT JOIN unnest(p.allergies) AS u(a) ON true;

-- case: a list with the places of its items
-- outcome: refused D252 at 1:32
-- instead: SELECT COUNT(*) FROM patients, unnest(allergies) AS u(a)
SELECT COUNT(*) FROM patients, unnest(allergies) WITH ORDINALITY AS u(a, n);

-- case: two lists side by side
-- outcome: refused D252 at 1:49
-- instead: SELECT COUNT(*) FROM answers, unnest(scores) AS s(score), unnest(map_keys(counts)) AS k(key)
SELECT COUNT(*) FROM (SELECT unnest(allergies), unnest(allergies) FROM patients);

-- case: a window beside an unnest
-- outcome: refused D252 at 1:30
-- instead: SELECT COUNT(*) FROM (SELECT item, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY item) FROM (SELECT *, unnest(allergies) AS item FROM patients))
SELECT COUNT(*) FROM (SELECT unnest(allergies), ROW_NUMBER() OVER (PARTITION BY patient_id) FROM patients);

-- case: computed anew for each private row
-- outcome: refused D252 at 1:48
-- instead: SELECT COUNT(*) FROM patients p, unnest(p.allergies) AS u(a)
SELECT COUNT(*) FROM patients, LATERAL (SELECT unnest(allergies) AS a);
