-- D202: no such column.

-- case: a name with a slip
-- outcome: refused D202 at 1:12
SELECT AVG(agee) FROM patients;

-- case: a column that the policy does not mention
-- outcome: refused D202 at 1:14
-- instead: SELECT COUNT(city) FROM patients
SELECT COUNT(notes) FROM patients;

-- case: a hidden column beside a star
-- outcome: refused D202 at 1:14
SELECT COUNT(notes) FROM (SELECT * FROM patients);

-- case: the number of a row
-- outcome: refused D202 at 1:37
SELECT COUNT(*) FROM patients WHERE rowid < 10;

-- case: a column that a subquery left out
-- outcome: refused D202 at 1:12
SELECT SUM(income) FROM (SELECT patient_id, age FROM patients);

-- case: the old name behind a column list
-- outcome: refused D202 at 1:12
SELECT SUM(age) FROM patients AS p(a, b, c);

-- case: a column of another table
-- outcome: refused D202 at 1:12
SELECT SUM(p.cost) FROM patients p JOIN visits v USING (patient_id);

-- case: an alias that is not there
-- outcome: refused D202 at 1:12
SELECT SUM(x.age) FROM patients p;

-- case: the table's name behind its alias
-- outcome: refused D202 at 1:12
SELECT SUM(patients.age) FROM patients AS p;

-- case: a whole row as a value
-- outcome: refused D202 at 1:14
SELECT COUNT(patients) FROM patients;

-- case: a column from outside
-- outcome: refused D202 at 1:82
SELECT COUNT(*) FROM patients p JOIN (SELECT patient_id FROM visits WHERE cost > p.age) AS v USING (patient_id);

-- case: a column of a release that was not released
-- outcome: refused D202
SELECT ward FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) ORDER BY age;

-- case: a join on a column that one side does not have
-- outcome: refused D202 at 1:50
SELECT COUNT(*) FROM patients JOIN visits USING (visit_id);

-- case: a public column that is not there
-- outcome: refused D202
-- instead: SELECT ward FROM wards
SELECT patients FROM wards;

-- case: a column of a schema that is not read
-- outcome: refused D202 at 1:8
-- instead: SELECT patients.ward, COUNT(*) FROM patients GROUP BY 1
SELECT sales.patients.ward, COUNT(*) FROM patients GROUP BY 1;
-- case: nothing to leave out
-- outcome: refused D202 at 1:41
SELECT COUNT(*) FROM (SELECT * EXCLUDE (wrad) FROM patients);

-- case: nothing to replace
-- outcome: refused D202
SELECT COUNT(*) FROM (SELECT * REPLACE (0 AS agee) FROM patients);

-- case: nothing to rename
-- outcome: refused D202 at 1:40
SELECT COUNT(*) FROM (SELECT * RENAME (agee AS years) FROM patients);

-- case: a column of another table left out
-- outcome: refused D202 at 1:44
-- instead: SELECT SUM(cost) FROM (SELECT v.* EXCLUDE (kind) FROM patients p JOIN visits v USING (patient_id))
SELECT SUM(cost) FROM (SELECT v.* EXCLUDE (age) FROM patients p JOIN visits v USING (patient_id));

-- case: a star of which nothing is left
-- outcome: refused D202
-- instead: SELECT * EXCLUDE (ward, floor) FROM wards
SELECT * EXCLUDE (ward, floor, beds) FROM wards;

-- case: no column in common
-- outcome: refused D202
-- instead: SELECT * FROM wards CROSS JOIN age_bands
SELECT * FROM wards NATURAL JOIN age_bands;

-- case: a released column that is not there to become a row
-- outcome: refused D202 at 1:89
UNPIVOT (SELECT sex, COUNT(*) AS n, SUM(age) AS total FROM patients GROUP BY sex) ON n, totals INTO NAME what VALUE v;

-- case: a column that a view leaves out
-- outcome: refused D202 at 1:14
-- instead: SELECT COUNT(city) FROM adults
SELECT COUNT(allergies) FROM adults;

-- case: a field that a struct does not have
-- outcome: refused D202 at 1:14
-- instead: SELECT COUNT(home.town) FROM answers
SELECT COUNT(home['street']) FROM answers;

-- case: ordered by a second column of one
-- outcome: refused D202 at 1:45
-- instead: SELECT COUNT(*) AS n FROM patients ORDER BY 1
SELECT COUNT(*) AS n FROM patients ORDER BY 2;

-- case: ordered by a third column of a union of two
-- outcome: refused D202 at 1:97
-- instead: SELECT ward, COUNT(*) FROM patients GROUP BY ward UNION ALL SELECT ward, 0 FROM wards ORDER BY 2
SELECT ward, COUNT(*) FROM patients GROUP BY ward UNION ALL SELECT ward, 0 FROM wards ORDER BY (3);

-- case: distinct by a hidden half-width
-- outcome: refused D202 at 1:21
SELECT DISTINCT ON (3) ward, COUNT(*) FROM patients GROUP BY ward ORDER BY ward;

-- case: an alias before it is there
-- outcome: refused D202 at 1:28
SELECT SUM(m) FROM (SELECT c + 1 AS m, cost AS c FROM visits) AS v;

-- case: a text in double quotes
-- outcome: refused D202 at 1:43
-- instead: SELECT COUNT(*) FROM patients WHERE sex = 'F'
SELECT COUNT(*) FROM patients WHERE sex = "F";

-- case: the clock of another database
-- outcome: refused D202 at 1:45
-- instead: SELECT COUNT(*) FROM visits WHERE seen_at > now()
SELECT COUNT(*) FROM visits WHERE seen_at > SYSDATE;
