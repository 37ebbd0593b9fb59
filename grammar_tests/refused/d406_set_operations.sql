-- D406: a set operation needs the unit on both sides.

-- case: private and public rows together
-- outcome: refused D406 at 1:66
-- instead: SELECT ward FROM patients GROUP BY ward UNION ALL SELECT ward FROM wards
SELECT COUNT(*) FROM (SELECT ward FROM patients UNION ALL SELECT ward FROM wards);

-- case: distinct rows of both
-- outcome: refused D406 at 1:61
SELECT COUNT(*) FROM (SELECT age FROM patients UNION SELECT minutes FROM visits);

-- case: the unit in different places
-- outcome: refused D406 at 1:73
-- instead: SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients UNION SELECT patient_id, minutes FROM visits)
SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients UNION SELECT minutes, patient_id FROM visits);

-- case: values of both
-- outcome: refused D406 at 1:66
-- instead: SELECT COUNT(*) FROM (SELECT city FROM patients GROUP BY city INTERSECT SELECT city FROM places)
SELECT COUNT(*) FROM (SELECT city FROM patients INTERSECT SELECT city FROM places);

-- case: values of one and not the other
-- outcome: refused D406 at 1:30
SELECT COUNT(*) FROM (SELECT place_id FROM places EXCEPT SELECT place_id FROM visits);

-- case: private rows of one and not the other, without the unit
-- outcome: refused D406 at 1:66
-- instead: SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients EXCEPT ALL SELECT patient_id, age FROM patients WHERE smoker)
SELECT COUNT(*) FROM (SELECT age FROM patients EXCEPT ALL SELECT age FROM patients WHERE smoker);

-- case: another column in the unit's place
-- outcome: refused D406 at 1:79
SELECT SUM(x) FROM (SELECT patient_id, cost AS x FROM visits INTERSECT SELECT visit_id, cost FROM visits);

-- case: constants added to private rows
-- outcome: refused D406 at 1:1
SELECT SUM(age) FROM (SELECT patient_id, age FROM patients UNION ALL VALUES (1, 2));

-- case: a union by name
-- outcome: refused D406 at 1:79
SELECT COUNT(*) FROM (SELECT ward, age FROM patients UNION ALL BY NAME SELECT ward, floor AS age FROM wards);

-- case: a column that took the unit's name, united
-- outcome: refused D406
SELECT SUM(n) FROM (
    SELECT patient_id, 1 AS n FROM visits
    UNION ALL
    SELECT patient_id, 1 FROM (SELECT * REPLACE (place_id AS patient_id) FROM visits)
);

-- case: INTERSECT without the unit
-- outcome: refused D406
-- instead: SELECT COUNT(*) FROM (SELECT patient_id, kind FROM visits INTERSECT SELECT patient_id, ward FROM patients)
SELECT COUNT(*) FROM (SELECT kind FROM visits INTERSECT SELECT ward FROM patients);

-- case: EXCEPT with the unit in another position
-- outcome: refused D406
SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients EXCEPT SELECT minutes, patient_id FROM visits);

-- case: EXCEPT of public rows
-- outcome: refused D406
SELECT COUNT(*) FROM (SELECT place_id FROM visits EXCEPT SELECT place_id FROM places);

-- case: UNION of a released list
-- outcome: refused D406
SELECT COUNT(*) FROM (SELECT kind FROM visits UNION SELECT kind FROM visits GROUP BY kind);

-- case: DISTINCT groups without the unit
-- outcome: refused D406 at 1:39
-- instead: SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, kind FROM visits GROUP BY patient_id, kind)
SELECT COUNT(*) FROM (SELECT DISTINCT kind FROM visits GROUP BY patient_id, kind);

-- case: the unit in crossed columns
-- outcome: refused D406 at 1:89
SELECT COUNT(*) FROM (SELECT patient_id AS a, minutes AS b FROM visits UNION ALL SELECT minutes, patient_id FROM visits);

-- case: the unit in turns
-- outcome: refused D406 at 2:71
SELECT COUNT(*) FROM (SELECT patient_id AS a, patient_id AS b FROM visits
    UNION ALL SELECT minutes, patient_id FROM visits UNION ALL SELECT patient_id, minutes FROM visits);

-- case: the unit on one side only
-- outcome: refused D406
-- instead: SELECT COUNT(*) AS n FROM (SELECT minutes FROM visits UNION ALL SELECT minutes FROM visits)
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM visits UNION ALL SELECT minutes FROM visits);

-- case: channels merged without the unit
-- outcome: refused D406
-- instead: SELECT COUNT(*) AS n FROM (SELECT cost FROM visits UNION ALL SELECT cost FROM referrals)
SELECT COUNT(*) AS n FROM (SELECT cost FROM visits UNION SELECT cost FROM referrals);
