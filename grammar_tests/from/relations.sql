-- Where rows may come from: tables, aliases, subqueries, unions, tables made of constants.

-- case: a table alias
-- outcome: accepted
SELECT COUNT(p.age) AS n FROM patients p WHERE p.smoker;

-- case: a table alias with AS and a list of column names
-- outcome: accepted
SELECT AVG(a) AS mean_age FROM patients AS p(id, b, a) WHERE b > DATE '1950-01-01';

-- case: renamed columns exchange their meanings
-- outcome: accepted
SELECT SUM(age) AS years, SUM(height) AS centimetres FROM (SELECT patient_id, height AS age, age AS height FROM patients);

-- case: a subquery that filters and computes
-- outcome: accepted
SELECT AVG(bmi) AS mean_ratio FROM (SELECT age, height / 100 AS bmi FROM patients WHERE height BETWEEN 100 AND 220) AS tall;

-- case: a star in a subquery
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(age) AS years FROM (SELECT * FROM patients WHERE sex = 'F');

-- case: a qualified star with a computed column
-- outcome: accepted
SELECT SUM(decades) AS decades FROM (SELECT p.*, p.age / 10 AS decades FROM patients AS p);

-- case: subqueries three deep
-- outcome: accepted
SELECT SUM(x) AS total
FROM (SELECT y + 1 AS x FROM (SELECT z * 2 AS y FROM (SELECT age AS z FROM patients WHERE age > 10) AS c) AS b) AS a;

-- case: a subquery that does not carry the unit by name
-- outcome: accepted
SELECT ward, AVG(years) AS mean_age FROM (SELECT ward, age AS years FROM patients) GROUP BY ward;

-- case: column names given to a subquery
-- outcome: accepted
SELECT w, SUM(i) AS income FROM (SELECT ward, income FROM patients) AS t(w, i) GROUP BY w;

-- case: a table in another schema
-- outcome: accepted
SELECT SUM(amount) AS turnover, COUNT(*) AS n FROM sales.orders WHERE status <> 'returned';

-- case: a table in another schema under an alias
-- outcome: accepted
SELECT o.status, COUNT(*) AS n FROM sales.orders AS o GROUP BY o.status;

-- case: a table owned along a foreign key
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(dose) AS dose FROM treatments;

-- case: a table owned along two foreign keys
-- outcome: accepted
SELECT AVG(severity) AS mean_severity FROM reactions;

-- case: a union of two private tables
-- outcome: accepted
SELECT SUM(amount) AS money
FROM (SELECT patient_id, cost AS amount FROM visits UNION ALL SELECT patient_id, amount FROM sales.orders) AS spent;

-- case: the same table three times
-- outcome: accepted
SELECT SUM(age) AS years
FROM (
    SELECT patient_id, age FROM patients
    UNION ALL SELECT patient_id, age FROM patients
    UNION ALL SELECT patient_id, age FROM patients
);

-- case: a union with a public key that tells the sides apart
-- outcome: accepted
SELECT source, COUNT(*) AS n, COUNT(DISTINCT patient_id) AS people
FROM (
    SELECT 'visit' AS source, patient_id FROM visits
    UNION ALL
    SELECT 'order' AS source, patient_id FROM sales.orders
)
GROUP BY source;

-- case: a union below a join on the unit
-- outcome: accepted
SELECT p.sex, SUM(e.amount) AS amount
FROM patients AS p
JOIN (
    SELECT patient_id, amount FROM sales.orders
    UNION ALL
    SELECT patient_id, -amount FROM sales.refunds
) AS e ON e.patient_id = p.patient_id
GROUP BY p.sex;

-- case: columns of a union take the names of its first side
-- outcome: accepted
SELECT AVG(x) AS mean FROM (SELECT patient_id AS id, minutes AS x FROM visits UNION ALL SELECT patient_id, age FROM patients);

-- case: a table of constants crossed in
-- outcome: accepted
SELECT k, COUNT(*) AS n FROM patients, (VALUES (1), (2), (3)) AS t(k) GROUP BY k;

-- case: a range crossed in
-- outcome: accepted
SELECT SUM(age) AS years FROM patients, range(5) AS copies(i) WHERE i < 3;

-- case: a public subquery crossed in
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients AS p, (SELECT MAX(beds) AS most FROM wards) AS m WHERE p.age > m.most;
