-- Private views that cannot be made, and what cannot be asked of one.

-- case: a column without public values
-- outcome: refused D407
-- instead: CREATE PRIVATE VIEW d407_a AS SELECT ward FROM patients
CREATE PRIVATE VIEW v AS SELECT ward, city FROM patients;

-- case: a number without a range
-- outcome: refused D407
-- instead: CREATE PRIVATE VIEW d407_b AS SELECT insured FROM patients
CREATE PRIVATE VIEW v AS SELECT score, insured FROM patients;

-- case: a range of too many values
-- outcome: refused D407
-- instead: CREATE PRIVATE VIEW d407_c AS SELECT YEAR(born) AS born, sex FROM patients
CREATE PRIVATE VIEW v AS SELECT born, sex FROM patients;

-- case: too many combinations
-- outcome: refused D408
-- instead: CREATE PRIVATE VIEW d408_a AS SELECT age // 10 AS decade, ward FROM patients
CREATE PRIVATE VIEW v AS SELECT age, YEAR(born) AS year, sex, ward, insured FROM patients;

-- case: too many combinations, of the columns that are named
-- outcome: refused D408
-- instead: CREATE PRIVATE VIEW d408_b WITH (dimensions = kind) AS SELECT minutes, kind FROM visits
CREATE PRIVATE VIEW v WITH (ranges = (minutes), dimensions = (month, day, kind)) AS
SELECT minutes, kind, MONTH(visited_on) AS month, DAY(visited_on) AS day FROM visits;

-- case: too many combinations over two tables
-- outcome: refused D408
-- instead: CREATE PRIVATE VIEW d408_c AS SELECT sex, kind FROM patients JOIN visits USING (patient_id)
CREATE PRIVATE VIEW v AS
SELECT age, sex, ward, minutes, kind FROM patients JOIN visits USING (patient_id);

-- case: too many combinations for a table of synthetic rows
-- outcome: refused D408
-- instead: CREATE PRIVATE VIEW d408_d WITH (method = 'mst') AS SELECT age, YEAR(born) AS year, sex, insured FROM patients
CREATE PRIVATE VIEW v WITH (method = 'mwem') AS
SELECT age, YEAR(born) AS year, sex, ward, insured FROM patients;

-- case: a method that nobody knows
-- outcome: refused D105 at 1:38
-- instead: CREATE PRIVATE VIEW d105_a WITH (method = 'mst') AS SELECT sex, ward FROM patients
CREATE PRIVATE VIEW v WITH (method = 'aim') AS SELECT sex, ward FROM patients;

-- case: ranges of synthetic rows
-- outcome: refused D105
-- instead: CREATE PRIVATE VIEW d105_b WITH (method = 'mwem') AS SELECT age, sex FROM patients
CREATE PRIVATE VIEW v WITH (ranges = (age), method = 'mwem') AS SELECT age, sex FROM patients;

-- case: synthetic rows without a delta
-- policy: pure.toml
-- outcome: refused D304
-- instead: CREATE PRIVATE VIEW d304_a AS SELECT sex, ward FROM patients
CREATE PRIVATE VIEW v WITH (method = 'mst') AS SELECT sex, ward FROM patients;

-- case: an aggregate that leaves the counts out
-- outcome: refused D409 at 1:8
-- instead: SELECT SUM(age * n) / SUM(n) FILTER (WHERE age IS NOT NULL) FROM headcounts
SELECT AVG(age) FROM headcounts;

-- case: a sum that a private view does not have
-- outcome: refused D409 at 1:8
-- instead: SELECT SUM(n) FROM headcounts
SELECT SUM(age) FROM headcounts;

-- case: a column that is summed and counted by
-- outcome: refused D105
-- instead: CREATE PRIVATE VIEW d105_c WITH (sums = (age)) AS SELECT age, sex FROM patients
CREATE PRIVATE VIEW v WITH (ranges = (age), sums = (age)) AS SELECT age, sex FROM patients;

-- case: a private view of groups
-- outcome: refused D409
-- instead: CREATE PRIVATE VIEW d409_a AS SELECT ward FROM patients
CREATE PRIVATE VIEW v AS SELECT ward, COUNT(*) AS k FROM patients GROUP BY ward;

-- case: a private view of public rows
-- outcome: refused D409
CREATE PRIVATE VIEW v AS SELECT ward FROM wards;

-- case: a private view of what is released first
-- outcome: refused D409
-- instead: CREATE PRIVATE VIEW d409_b AS SELECT sex FROM patients
CREATE PRIVATE VIEW v AS SELECT sex FROM patients WHERE age > (SELECT AVG(age) FROM patients);

-- case: a private view of a private view
-- outcome: refused D409
-- instead: SELECT age, SUM(n) AS n FROM headcounts GROUP BY age
CREATE PRIVATE VIEW v AS SELECT age FROM headcounts;

-- case: a private view of today
-- outcome: refused D409
-- instead: CREATE PRIVATE VIEW d409_c AS SELECT ward FROM patients WHERE registered < DATE '2026-01-31'
CREATE PRIVATE VIEW v AS SELECT ward FROM patients WHERE registered < NOW();

-- case: a private view beside private rows
-- outcome: refused D410
-- instead: SELECT SUM(n) FROM headcounts
SELECT SUM(n) FROM headcounts UNION ALL SELECT COUNT(*) FROM patients;

-- case: private rows chosen by a private view
-- outcome: refused D410
SELECT COUNT(*) FROM patients WHERE age > (SELECT SUM(age * n) / SUM(n) FROM headcounts);

-- case: private rows on the list of a private view
-- outcome: refused D410
SELECT COUNT(*) FROM patients WHERE ward IN (SELECT ward FROM headcounts WHERE n > 5);

-- case: a private view with the name of a view
-- outcome: refused D411 at 1:21
-- instead: CREATE PRIVATE VIEW d411 AS SELECT ward FROM patients
CREATE PRIVATE VIEW adults AS SELECT ward FROM patients;

-- case: a private view with the name of a private table
-- outcome: refused D411 at 1:21
CREATE PRIVATE VIEW patients AS SELECT ward FROM patients;

-- case: a private view with the name of a public table
-- outcome: refused D411 at 1:21
CREATE PRIVATE VIEW "Wards" AS SELECT ward FROM patients;

-- case: a price for what is paid
-- outcome: refused D503 at 1:16
-- instead: SELECT SUM(n) FROM headcounts
SELECT OPTIONS(epsilon = 0.5) SUM(n) FROM headcounts;

-- case: a range that is no column of a view
-- outcome: refused D202 at 1:38
-- instead: CREATE PRIVATE VIEW d202 WITH (ranges = (age)) AS SELECT age, sex FROM patients
CREATE PRIVATE VIEW v WITH (ranges = (agee)) AS SELECT age, sex FROM patients;

-- case: a column called as the count
-- outcome: refused D203
-- instead: CREATE PRIVATE VIEW d203 AS SELECT smoker AS c FROM patients
CREATE PRIVATE VIEW v AS SELECT smoker AS n FROM patients;

-- case: the count named as a column
-- outcome: refused D203 at 1:43
-- instead: CREATE PRIVATE VIEW d203_b WITH (dimensions = (c)) AS SELECT smoker AS c FROM patients
CREATE PRIVATE VIEW v WITH (dimensions = (n)) AS SELECT smoker AS n FROM patients;

-- case: an option that a private view has not
-- outcome: refused D105 at 1:29
-- instead: CREATE PRIVATE VIEW d105 WITH (epsilon = 0.5) AS SELECT sex FROM patients
CREATE PRIVATE VIEW v WITH (delta = 1e-7) AS SELECT age FROM patients;

-- case: a private view without a query
-- outcome: refused D101
-- instead: CREATE PRIVATE VIEW d101 WITH (epsilon = 1) AS SELECT smoker FROM patients
CREATE PRIVATE VIEW v WITH (epsilon = 1);

-- case: nothing behind AS
-- outcome: refused D101
CREATE PRIVATE VIEW v AS;

-- case: a private view that shows the unit
-- outcome: refused D403
-- instead: CREATE PRIVATE VIEW d403 AS SELECT age, sex FROM patients
CREATE PRIVATE VIEW v AS SELECT patient_id FROM patients;

-- case: a private view that nobody created
-- outcome: refused D201 at 1:22
-- instead: CREATE PRIVATE VIEW nothing AS SELECT smoker, sex FROM patients
REFRESH PRIVATE VIEW something;
