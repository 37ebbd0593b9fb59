-- Views that the policy declares: bound like a WITH of that name, wherever they are named.

-- case: rows of a view
-- outcome: accepted
SELECT COUNT(*) AS n, AVG(income) AS income FROM adults;

-- case: declared ranges and values pass through a view
-- outcome: accepted
SELECT ward, SUM(age) AS age FROM adults GROUP BY ward;

-- case: a view over a view
-- outcome: accepted
SELECT kind, SUM(price) AS price FROM stays GROUP BY kind;

-- case: two views joined on the unit
-- outcome: accepted
SELECT a.city, SUM(s.price) AS price FROM stays s JOIN Adults a USING (patient_id) GROUP BY a.city;

-- case: a view that has aggregated by unit
-- outcome: accepted
SELECT AVG(LEAST(spent, 5000)) AS spent, AVG(LEAST(n, 20)) AS visits FROM spending;

-- case: a table joined with a view
-- outcome: accepted
SELECT p.sex, COUNT(*) AS n FROM patients p JOIN spending s USING (patient_id) WHERE s.n > 1 GROUP BY p.sex;

-- case: a view of a release
-- outcome: accepted
SELECT ward, n FROM ward_sizes WHERE mean_age > 10 ORDER BY n DESC;

-- case: a view of a release, used twice
-- outcome: accepted
SELECT a.ward, a.n / t.n AS share FROM ward_sizes a, (SELECT SUM(n) AS n FROM ward_sizes) AS t;

-- case: a release beside public rows, both views
-- outcome: accepted
SELECT w.places, s.n FROM large_wards w JOIN ward_sizes s USING (ward);

-- case: private rows joined with a public view
-- outcome: accepted
SELECT l.places, COUNT(*) AS n FROM adults JOIN large_wards l USING (ward) GROUP BY l.places;

-- case: values of a public view
-- outcome: accepted
SELECT AVG(age) AS age FROM patients WHERE ward IN (SELECT ward FROM large_wards);

-- case: a public view alone
-- outcome: accepted
FROM large_wards ORDER BY places;

-- case: WITH hides a view
-- outcome: accepted
WITH adults AS (SELECT ward, beds FROM wards) SELECT SUM(beds) AS beds FROM adults;

-- case: WITH does not reach into a view
-- outcome: accepted
WITH patients AS (SELECT * FROM wards) SELECT COUNT(*) AS n FROM adults WHERE insured;

-- case: a view with its schema
-- outcome: accepted
SELECT smoker, COUNT(*) AS n FROM main.adults GROUP BY smoker;

-- case: names for a view's columns
-- outcome: accepted
SELECT SUM(years) AS years FROM adults AS a(id, birth, years) WHERE id > 3;

-- case: a view turned
-- outcome: accepted
PIVOT adults ON sex IN ('F', 'M') USING AVG(income) GROUP BY ward;
