-- D254: windows over private rows look at several units.

-- case: the largest of all beside each
-- outcome: refused D254 at 1:44
SELECT SUM(m) FROM (SELECT patient_id, MAX(age) OVER () AS m FROM patients);

-- case: an exact count as a key
-- outcome: refused D254 at 1:33
SELECT c, COUNT(*) FROM (SELECT COUNT(age) OVER (PARTITION BY ward) AS c FROM patients) GROUP BY c;

-- case: a place in the order of all
-- outcome: refused D254 at 1:42
-- instead: SELECT ward, RANK() OVER (ORDER BY AVG(income) DESC) AS place FROM patients GROUP BY ward
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

-- case: a number for the unit
-- outcome: refused D254 at 1:30
SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER () AS patient_id, age FROM patients) GROUP BY age;

-- case: a named window over private rows
-- outcome: refused D254 at 1:28
SELECT SUM(x) FROM (SELECT SUM(age) OVER w AS x FROM patients WINDOW w AS (PARTITION BY ward));

-- case: DISTINCT ON something that many share
-- outcome: refused D254
SELECT SUM(age) FROM (SELECT DISTINCT ON (ward) ward, age FROM patients ORDER BY ward, age);

-- case: partitioned by a column beside the unit
-- outcome: refused D254
SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY cost) AS n FROM visits) WHERE n = 1;

-- case: partitioned by something computed from the unit
-- outcome: refused D254
SELECT COUNT(*) FROM (SELECT patient_id, RANK() OVER (PARTITION BY patient_id % 2 ORDER BY cost) AS n FROM visits) WHERE n = 1;

-- case: QUALIFY without a partition
-- outcome: refused D254
SELECT COUNT(*) FROM (SELECT patient_id, cost FROM visits QUALIFY ROW_NUMBER() OVER (ORDER BY cost DESC) <= 10);

-- case: another column called as the unit is
-- outcome: refused D254
SELECT COUNT(*) FROM (
    SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY minutes) AS n
    FROM (SELECT place_id AS patient_id, minutes FROM visits)) WHERE n = 1;

-- case: a frame in days
-- outcome: refused D254
-- instead: SELECT COUNT(*) FROM (SELECT SUM(b.minutes) AS m FROM visits AS a JOIN visits AS b ON a.patient_id = b.patient_id AND b.visited_on BETWEEN a.visited_on - INTERVAL 7 DAY AND a.visited_on GROUP BY a.patient_id, a.visit_id)
SELECT COUNT(*) FROM (
    SELECT patient_id, SUM(minutes) OVER (
        PARTITION BY patient_id ORDER BY visited_on RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND CURRENT ROW) AS m FROM visits);

-- case: a function that is not a window's
-- outcome: refused D254
-- instead: SELECT COUNT(*) FROM visits JOIN (SELECT patient_id, COUNT(DISTINCT kind) AS m FROM visits GROUP BY patient_id) USING (patient_id)
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(DISTINCT kind) OVER (PARTITION BY patient_id) AS m FROM visits);

-- case: in WHERE
-- outcome: refused D254
-- instead: SELECT COUNT(*) FROM (SELECT patient_id FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY cost) = 1)
SELECT COUNT(*) FROM visits WHERE ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY cost) = 1;

-- case: one visit count for each ward
-- outcome: refused D254 at 1:21
SELECT DISTINCT ON (ward) ward, n
FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits JOIN patients USING (patient_id) GROUP BY ALL) ORDER BY n;

-- case: the unit of the kept side's other
-- outcome: refused D254 at 1:30
SELECT COUNT(*) FROM (SELECT row_number() OVER (PARTITION BY v.patient_id) AS rn
    FROM patients p LEFT JOIN visits v USING (patient_id)) WHERE rn = 1;

-- case: the unit of one side of a FULL join
-- outcome: refused D254 at 1:30
SELECT COUNT(*) FROM (SELECT row_number() OVER (PARTITION BY o.patient_id) AS rn
    FROM visits v FULL JOIN sales.orders o ON v.patient_id = o.patient_id) WHERE rn = 1;

-- case: the value beside the least of the unit's rows
-- outcome: refused D254 at 1:36
-- instead: SELECT COUNT(*) FROM (SELECT kind, FIRST_VALUE(kind) OVER (PARTITION BY patient_id ORDER BY cost) AS k FROM visits) WHERE k = kind
SELECT COUNT(*) FROM (SELECT kind, ARG_MIN(kind, cost) OVER (PARTITION BY patient_id) AS k FROM visits) WHERE k = kind;

-- case: the mode of the unit's rows beside each
-- outcome: refused D254 at 1:36
-- instead: SELECT COUNT(*) FROM visits JOIN (SELECT patient_id, MODE(kind) AS m FROM visits GROUP BY patient_id) USING (patient_id) WHERE m = kind
SELECT COUNT(*) FROM (SELECT kind, MODE(kind) OVER (PARTITION BY patient_id) AS k FROM visits) WHERE k = kind;

-- case: a first value with two orders
-- outcome: refused D254 at 1:36
-- instead: SELECT COUNT(*) FROM (SELECT kind, FIRST_VALUE(kind) OVER (PARTITION BY patient_id ORDER BY cost) AS k FROM visits) WHERE k = kind
SELECT COUNT(*) FROM (SELECT kind, FIRST(kind ORDER BY cost) OVER (PARTITION BY patient_id) AS k FROM visits) WHERE k = kind;

-- case: the dearest tenth of the visits
-- outcome: refused D254
-- instead: SELECT AVG(minutes) AS minutes FROM visits WHERE cost > (SELECT QUANTILE_CONT(cost, 0.9) FROM visits)
SELECT AVG(minutes) AS minutes FROM (SELECT minutes, NTILE(10) OVER (ORDER BY cost DESC) AS tenth FROM visits) WHERE tenth = 1;

-- case: the upper quarter of a join
-- outcome: refused D254
SELECT COUNT(*) AS n FROM (SELECT NTILE(4) OVER (ORDER BY p.age + v.minutes) AS part FROM patients p JOIN visits v USING (patient_id) WHERE v.urgent) WHERE part = 4;

-- case: persons by a rank in percent
-- outcome: refused D254
-- instead: SELECT AVG(age) AS age FROM patients WHERE income > (SELECT QUANTILE_CONT(income, 0.9) FROM patients)
SELECT AVG(age) AS age FROM (SELECT *, PERCENT_RANK() OVER (ORDER BY income) AS place FROM patients) WHERE place > 0.9;

-- case: persons from above
-- outcome: refused D254
SELECT COUNT(*) AS n FROM (SELECT age, CUME_DIST() OVER (ORDER BY age DESC) AS place FROM patients) WHERE place > 0.9;

-- case: the busiest tenth of the persons
-- outcome: refused D254
SELECT AVG(n) AS n FROM (
    SELECT n, NTILE(10) OVER (ORDER BY n) AS tenth FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)
) WHERE tenth = 10;

-- case: tenths of a text
-- outcome: refused D254
SELECT COUNT(*) AS n FROM (SELECT NTILE(10) OVER (ORDER BY city) AS tenth FROM patients) WHERE tenth = 1;

-- case: a value that stands in where there is no row before
-- outcome: refused D254 at 1:42
-- instead: SELECT COUNT(n) FROM (SELECT patient_id, COALESCE(LAG(place_id) OVER (PARTITION BY patient_id ORDER BY visited_on), 0) AS n FROM visits)
SELECT COUNT(n) FROM (SELECT patient_id, LAG(place_id, 1, 0) OVER (PARTITION BY patient_id ORDER BY visited_on) AS n FROM visits);
