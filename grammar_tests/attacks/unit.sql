-- The unit is a column that the policy names, wherever its values go and whatever is called like it.

-- case: another key under its name: the groups are of the unit behind it
-- attack: unit laundering
-- outcome: accepted
SELECT AVG(n) FROM (SELECT visit_id AS patient_id, COUNT(*) AS n FROM visits GROUP BY visit_id);

-- case: another key in its place: the groups are of the unit behind it
-- attack: unit laundering
-- outcome: accepted
SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM (SELECT * REPLACE (visit_id AS patient_id) FROM visits) GROUP BY patient_id);

-- case: a remainder of it
-- attack: unit laundering
-- outcome: accepted
-- oracle: no-meaning (an arm of no rows is a group, and counts in the average)
SELECT AVG(n) FROM (SELECT patient_id % 2 AS half, COUNT(*) AS n FROM visits GROUP BY half);

-- case: a text of it and another key
-- attack: unit laundering
-- outcome: refused D403 at 1:100
SELECT COUNT(*) FROM (SELECT concat(patient_id, '-', visit_id) AS patient_id FROM visits) GROUP BY patient_id;

-- case: the least of a ward
-- attack: unit laundering
-- outcome: refused D301 at 1:34
SELECT COUNT(*) FROM (SELECT MIN(patient_id) AS patient_id FROM patients GROUP BY ward);

-- case: its name exchanged by RENAME
-- attack: unit laundering
-- outcome: accepted
SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM (SELECT * RENAME (patient_id AS owner, place_id AS patient_id) FROM visits) GROUP BY patient_id);

-- case: counted under another's name
-- attack: unit laundering
-- outcome: accepted
-- oracle: no-meaning (it is a count of visits, of which a patient may claim five)
SELECT COUNT(DISTINCT patient_id) FROM (SELECT visit_id AS patient_id FROM visits);

-- case: numbered rows as units in a union
-- attack: unit laundering
-- outcome: refused D254 at 1:73
SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients UNION SELECT row_number() OVER () AS patient_id, minutes FROM visits);

-- case: the greater of two units
-- attack: unit laundering
-- outcome: refused D401 at 1:98
SELECT COUNT(*) FROM (SELECT GREATEST(a.patient_id, b.patient_id) AS patient_id FROM patients a, patients b) GROUP BY patient_id;

-- case: its text
-- attack: unit as a key
-- outcome: refused D403 at 1:8
SELECT patient_id::VARCHAR AS k, COUNT(*) FROM visits GROUP BY k;

-- case: its hash
-- attack: unit as a key
-- outcome: refused D251 at 1:8
SELECT hash(patient_id) AS k, COUNT(*) FROM patients GROUP BY k;

-- case: in a struct
-- attack: unit as a key
-- outcome: refused D251 at 1:14
SELECT {'k': patient_id} AS k, COUNT(*) FROM patients GROUP BY k;

-- case: in a list
-- attack: unit as a key
-- outcome: refused D205 at 1:9
SELECT [patient_id] AS k, COUNT(*) FROM patients GROUP BY k;

-- case: the number of the row
-- attack: unit as a key
-- outcome: refused D202 at 1:47
SELECT rowid, COUNT(*) FROM patients GROUP BY rowid;

-- case: under another name
-- attack: unit as a key
-- outcome: refused D403 at 1:8
SELECT patient_id AS ward, COUNT(*) FROM visits GROUP BY ALL;

-- case: in capitals and quotes
-- attack: unit as a key
-- outcome: refused D403 at 1:8
SELECT "PATIENT_ID" AS k, COUNT(*) FROM visits GROUP BY k;

-- case: by a list of aliases
-- attack: unit as a key
-- outcome: refused D403 at 1:8
SELECT t.b, COUNT(*) FROM visits AS t(a, b) GROUP BY t.b;

-- case: the whole row
-- attack: unit as a key
-- outcome: refused D202 at 1:50
SELECT patients, COUNT(*) FROM patients GROUP BY patients;

-- case: half of it in a rollup
-- attack: unit as a key
-- outcome: refused D252 at 1:66
SELECT ward, patient_id, COUNT(*) FROM patients GROUP BY ROLLUP (ward, patient_id);

-- case: as columns
-- attack: unit as a key
-- outcome: accepted
PIVOT visits ON patient_id IN (1, 2, 3) USING COUNT(*) GROUP BY kind;

-- case: chosen by DISTINCT ON
-- attack: unit as a key
-- outcome: refused D402 at 1:33
SELECT DISTINCT ON (patient_id) patient_id, kind FROM visits ORDER BY patient_id, kind;

-- case: by a foreign key of the same values
-- attack: unit as a key
-- outcome: refused D403 at 1:8
SELECT o.patient_id, SUM(o.amount) AS s FROM sales.orders o GROUP BY o.patient_id;

-- case: through a view
-- attack: unit as a key
-- outcome: refused D403 at 1:8
SELECT patient_id, spent FROM spending;

-- case: as the key of a table that a key declares
-- attack: unit as a key
-- outcome: refused D403 at 1:52
SELECT v.visit_id, COUNT(*) FROM visits v GROUP BY v.visit_id;

-- case: its last digit is a key that many share
-- attack: unit as a key
-- outcome: accepted
SELECT patient_id % 10 AS digit, COUNT(*) AS n FROM patients GROUP BY digit;

-- case: a public name for private rows
-- attack: shadowing
-- outcome: refused D402 at 1:68
WITH places AS (SELECT * EXCLUDE (allergies) FROM patients) SELECT * FROM places;

-- case: a public name in capitals
-- attack: shadowing
-- outcome: refused D402 at 1:64
WITH "PLACES" AS (SELECT patient_id, age FROM patients) SELECT age FROM places;

-- case: an alias of a public table's name
-- attack: shadowing
-- outcome: refused D402 at 1:8
SELECT age FROM patients AS places;

-- case: a nested WITH
-- attack: shadowing
-- outcome: refused D402 at 1:89
WITH a AS (WITH wards AS (SELECT age AS beds FROM patients) SELECT * FROM wards) SELECT beds FROM a;

-- case: a private name for public rows
-- attack: shadowing
-- outcome: accepted
WITH patients AS (SELECT ward, beds AS age FROM wards) SELECT ward, age FROM patients;

-- case: a view's name for private rows
-- attack: shadowing
-- outcome: refused D402 at 1:71
WITH large_wards AS (SELECT ward, age AS places FROM patients) SELECT places FROM large_wards;

-- case: a public name inside a subquery
-- attack: shadowing
-- outcome: refused D402 at 1:47
SELECT ward FROM wards WHERE beds > ANY (WITH wards AS (SELECT age AS beds FROM patients) SELECT beds FROM wards);

-- case: a WITH that reads itself
-- attack: shadowing
-- outcome: accepted
WITH patients AS (SELECT patient_id, age FROM patients) SELECT COUNT(*) AS n, SUM(age) AS s FROM patients;

-- case: aliases that exchange a private and a public column
-- attack: shadowing
-- outcome: refused D402 at 1:8
SELECT t.ward FROM (SELECT p.age, w.ward FROM patients p JOIN wards w USING (ward)) AS t(ward, age);

-- case: in one of several sets of groups
-- attack: unit as a key
-- outcome: refused D252 at 1:79
SELECT ward, patient_id, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((ward), (patient_id));

-- case: alone in a cube
-- attack: unit as a key
-- outcome: refused D252 at 1:76
SELECT GROUPING(patient_id) AS g, COUNT(*) AS n FROM visits GROUP BY CUBE (patient_id);

-- case: the merged unit of a full join
-- attack: unit laundering
-- outcome: accepted
SELECT SUM(n) AS s, COUNT(*) AS c FROM (SELECT patient_id, COUNT(*) AS n FROM visits v FULL JOIN sales.orders o USING (patient_id) GROUP BY patient_id);

-- case: a window by the merged unit
-- attack: unit laundering
-- outcome: accepted
SELECT SUM(r) AS s FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_id, order_id) AS r FROM visits v FULL JOIN sales.orders o USING (patient_id));

-- case: merged units counted
-- attack: unit laundering
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) AS n FROM visits v FULL JOIN sales.orders o USING (patient_id);

-- case: a window by one side of a full join
-- attack: unit laundering
-- outcome: refused D254 at 1:33
SELECT SUM(r) AS s FROM (SELECT ROW_NUMBER() OVER (PARTITION BY v.patient_id ORDER BY v.visit_id) AS r FROM visits v FULL JOIN sales.orders o ON v.patient_id = o.patient_id);

-- case: groups by the side that an outer join leaves empty
-- attack: unit laundering
-- outcome: refused D403 at 1:146
SELECT SUM(x) AS s FROM (SELECT v.patient_id, SUM(o.amount) AS x FROM visits v RIGHT JOIN sales.orders o ON v.patient_id = o.patient_id GROUP BY v.patient_id);
