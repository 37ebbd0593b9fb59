-- D254: windows over private rows look at several units.

-- case: the largest of all beside each
-- outcome: refused D254 at 1:44
SELECT SUM(m) FROM (SELECT patient_id, MAX(age) OVER () AS m FROM patients);

-- case: an exact count as a key
-- outcome: refused D254 at 1:33
SELECT c, COUNT(*) FROM (SELECT COUNT(age) OVER (PARTITION BY ward) AS c FROM patients) GROUP BY c;

-- case: a place in the order of all
-- outcome: refused D254 at 1:42
SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (ORDER BY income) AS r FROM patients) WHERE r < 10;

-- case: the value before
-- outcome: refused D254 at 1:34
SELECT AVG(d) FROM (SELECT age - LAG(age) OVER (ORDER BY patient_id) AS d FROM patients);

-- case: tenths of all people
-- outcome: refused D254 at 1:48
SELECT tenth, AVG(income) FROM (SELECT income, NTILE(10) OVER (ORDER BY income) AS tenth FROM patients) GROUP BY tenth;

-- case: the first of each ward
-- outcome: refused D254 at 1:28
SELECT SUM(f) FROM (SELECT FIRST_VALUE(income) OVER (PARTITION BY ward ORDER BY age) AS f FROM patients);

-- case: QUALIFY
-- outcome: refused D254 at 1:63
SELECT COUNT(*) FROM (SELECT patient_id FROM patients QUALIFY RANK() OVER (ORDER BY income DESC) <= 3);

-- case: a window inside an aggregate
-- outcome: refused D254 at 1:12
SELECT SUM(SUM(age) OVER ()) FROM patients;

-- case: a window in a group key
-- outcome: refused D254 at 1:40
SELECT COUNT(*) FROM patients GROUP BY DENSE_RANK() OVER (ORDER BY age);

-- case: a named window
-- outcome: refused D254 at 1:28
SELECT AVG(m) FROM (SELECT AVG(cost) OVER w AS m FROM visits WINDOW w AS (PARTITION BY place_id));

-- case: within each unit, still to come
-- outcome: refused D254 at 2:24
SELECT COUNT(*) FROM (
    SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS r FROM visits
) WHERE r = 1;

-- case: a number for the unit
-- outcome: refused D254 at 1:30
SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER () AS patient_id, age FROM patients) GROUP BY age;

-- case: a named window over private rows
-- outcome: refused D254 at 1:28
SELECT SUM(x) FROM (SELECT SUM(age) OVER w AS x FROM patients WINDOW w AS (PARTITION BY ward));
