-- Stars that leave out, replace and rename columns, over private, released and public rows.

-- case: a star without some columns
-- outcome: accepted
SELECT sex, AVG(age) AS mean_age FROM (SELECT * EXCLUDE (born, score) FROM patients) GROUP BY sex;

-- case: a star without one column, in no parentheses
-- outcome: accepted
SELECT COUNT(*) FROM (SELECT * EXCLUDE ward FROM patients) WHERE smoker;

-- case: EXCEPT as another word
-- outcome: accepted
SELECT SUM(minutes) AS minutes FROM (SELECT * EXCEPT (cost) FROM visits);

-- case: one table's star, narrowed, renamed and replaced
-- outcome: accepted
SELECT SUM(minutes) AS hours
FROM (SELECT v.* EXCLUDE (cost) REPLACE (minutes // 2 AS minutes) RENAME (kind AS sort) FROM visits v)
WHERE sort = 'checkup';

-- case: a column replaced by a clamp of itself
-- outcome: accepted
SELECT ward, SUM(income) AS income
FROM (SELECT * REPLACE (LEAST(income, 50000) AS income) FROM patients) GROUP BY ward;

-- case: bounds follow a column that takes another's name
-- outcome: accepted
SELECT SUM(income) AS cost FROM (SELECT * RENAME (cost AS income) FROM visits);

-- case: the unit under another name still joins
-- outcome: accepted
WITH v AS (SELECT * RENAME (patient_id AS who) FROM visits)
SELECT p.sex, SUM(v.cost) AS cost FROM patients p JOIN v ON v.who = p.patient_id GROUP BY p.sex;

-- case: the excluded unit still owns its rows
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (SELECT * EXCLUDE (patient_id) FROM visits) GROUP BY kind;

-- case: a constant that is called like the unit
-- outcome: accepted
SELECT AVG(age) AS mean_age FROM (SELECT * REPLACE (1 AS patient_id) FROM patients);

-- case: an aggregate in a star
-- outcome: accepted
SELECT * REPLACE (SUM(age) AS age) FROM (SELECT sex, age FROM patients) GROUP BY ALL;

-- case: both tables' columns of one name left out
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(minutes) AS minutes
FROM (SELECT * EXCLUDE (patient_id, city) FROM patients p JOIN visits v USING (patient_id));

-- case: one of two columns of the same name left out
-- outcome: accepted
SELECT AVG(cost) AS cost
FROM (SELECT * EXCLUDE (r.cost) FROM visits v JOIN referrals r ON r.patient_id = v.patient_id);

-- case: a release without its count
-- outcome: accepted
SELECT * EXCLUDE (n) FROM (SELECT ward, sex, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY ward, sex);

-- case: a release with a rounded mean
-- outcome: accepted
SELECT * REPLACE (ROUND(mean_age) AS mean_age)
FROM (SELECT kind, COUNT(*) AS n, AVG(minutes) AS mean_age FROM visits GROUP BY kind);

-- case: two stars, each narrowed
-- outcome: accepted
SELECT w.* EXCLUDE (floor), s.* EXCLUDE ward
FROM wards w JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS s USING (ward);

-- case: a public table with other names
-- outcome: accepted
SELECT * RENAME (place_id AS id, kind AS sort) FROM places ORDER BY id;

-- case: the merged column of a full join
-- outcome: accepted
SELECT * FROM wards w FULL JOIN (SELECT ward, SUM(age) AS age FROM patients GROUP BY ward) AS s USING (ward);

-- case: a star over a semi join
-- outcome: accepted
SELECT * FROM wards SEMI JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS s USING (ward);
