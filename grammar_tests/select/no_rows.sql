-- Questions for the columns of a table or a query: no rows are asked for, none are read, nothing is paid.

-- case: the columns of a table
-- outcome: accepted
SELECT * FROM patients LIMIT 0;

-- case: the columns of a query
-- outcome: accepted
SELECT * FROM (SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY ward) AS q WHERE 1 = 0;

-- case: none equals one
-- outcome: accepted
SELECT * FROM visits WHERE (0 = 1);

-- case: one equals two
-- outcome: accepted
SELECT * FROM visits WHERE 1 = 2;

-- case: one is not one
-- outcome: accepted
SELECT * FROM visits WHERE 1 <> 1;

-- case: false, and none of them
-- outcome: accepted
SELECT * FROM (SELECT p.sex, v.* FROM patients p JOIN visits v USING (patient_id)) AS q WHERE FALSE LIMIT 0;

-- case: chosen columns, in order
-- outcome: accepted
SELECT visit_id, q.cost AS price, minutes * 60 AS seconds FROM visits AS q WHERE FALSE ORDER BY price LIMIT 10;

-- case: through WITH
-- outcome: accepted
WITH old AS (SELECT * FROM patients WHERE age > 70) SELECT patient_id, blood, allergies FROM old LIMIT 0 OFFSET 3;

-- case: of a view
-- outcome: accepted
SELECT * FROM stays WHERE 1 = 0;

-- case: of rows by unit
-- outcome: accepted
SELECT patient_id, SUM(minutes) AS m FROM visits WHERE FALSE GROUP BY patient_id;

-- case: of distinct rows
-- outcome: accepted
SELECT DISTINCT * FROM visits WHERE FALSE;

-- case: of a window
-- outcome: accepted
SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_id) AS nth FROM visits LIMIT 0;

-- case: of a set operation
-- outcome: accepted
SELECT patient_id, kind FROM visits EXCEPT SELECT patient_id, city FROM patients ORDER BY 1 LIMIT 0;

-- case: of an aggregate
-- outcome: accepted
SELECT city, COUNT(*) AS n, MEDIAN(age) AS middle FROM patients GROUP BY city HAVING COUNT(*) > 10 LIMIT 0;

-- case: of a sum that has no range
-- outcome: accepted
SELECT * FROM (SELECT ward, SUM(score) AS s FROM patients GROUP BY ward) AS q WHERE 1 = 0;

-- case: of a sum of which bounds are not found for it
-- outcome: accepted
-- policy: finds.toml
SELECT patient_id, SUM(cost) AS s FROM visits GROUP BY patient_id LIMIT 0;

-- case: of a release in two stages
-- outcome: accepted
SELECT * FROM (SELECT COUNT(*) AS n FROM patients WHERE income > (SELECT AVG(income) FROM patients)) AS q LIMIT 0;

-- case: an aggregate of no rows is one row
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE 1 = 0;

-- case: so is one of no released rows
-- outcome: accepted
SELECT mad(n) AS m FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS q WHERE 1 = 0;

-- case: and one inside a star
-- outcome: accepted
SELECT * REPLACE (MAX(n) AS n) FROM (SELECT COUNT(*) AS n FROM patients GROUP BY ward) AS q WHERE 1 = 0;

-- case: of expressions over a release
-- outcome: accepted
SELECT upper(ward) AS w, n / 2 AS half, * REPLACE (n + 1 AS n) FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS q WHERE FALSE;

-- case: an order by an aggregate makes one row
-- outcome: accepted
SELECT 1 AS one FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS q WHERE FALSE ORDER BY COUNT(*);

-- case: a grand total of no rows is one row
-- outcome: accepted
SELECT ward FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS q WHERE 1 = 0 GROUP BY ROLLUP (ward);
