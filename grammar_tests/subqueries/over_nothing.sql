-- Subqueries that give a row where they find nothing, and those that give none.

-- case: a row is always there
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id);

-- case: there unless HAVING says no
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE EXISTS (
    SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id HAVING COUNT(*) < 2);

-- case: not there where HAVING holds over nothing
-- outcome: accepted
SELECT p.ward, COUNT(*) FROM patients p WHERE NOT EXISTS (
    SELECT MAX(cost) FROM visits v WHERE v.patient_id = p.patient_id HAVING COUNT(*) = 0) GROUP BY p.ward;

-- case: the same as one of two conditions
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE p.age > 50 OR EXISTS (
    SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id HAVING SUM(minutes) > 60);

-- case: a stage that is there or not
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits HAVING COUNT(*) > 10);

-- case: no visit is a count of zero
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE 0 IN (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id);

-- case: a greatest value that is none
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE 60 NOT IN (SELECT MAX(minutes) FROM visits v WHERE v.patient_id = p.patient_id);

-- case: HAVING makes a value NULL
-- outcome: accepted
SELECT COUNT(*) FROM patients p
WHERE (SELECT COUNT(*) AS n FROM visits v WHERE v.patient_id = p.patient_id HAVING n > 1) IS NULL;

-- case: GROUP BY makes no row of nothing
-- outcome: accepted
SELECT COUNT(*) FROM patients p
WHERE (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id GROUP BY v.patient_id) IS NULL;

-- case: groups are there, each once
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE p.age > 60 OR EXISTS (
    SELECT kind FROM visits v WHERE v.patient_id = p.patient_id GROUP BY kind);

-- case: groups that HAVING keeps, each once
-- outcome: accepted
SELECT SUM(CASE WHEN EXISTS (SELECT kind FROM visits v WHERE v.patient_id = p.patient_id GROUP BY kind HAVING COUNT(*) > 1)
    THEN 2 ELSE 1 END) FROM patients p;

-- case: a ratio of two counts
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(r, 0), 1)) FROM (SELECT p.patient_id, (SELECT COALESCE(SUM(minutes), 0) / GREATEST(COUNT(*), 1)
    FROM visits v WHERE v.patient_id = p.patient_id) / 500 AS r FROM patients p);

-- case: a limit says nothing about being there
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE p.age > 60 OR EXISTS (
    SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id ORDER BY cost LIMIT 2);

-- case: public rows with a limit are there once
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE p.age > 60 OR EXISTS (SELECT 1 FROM place_tags t WHERE t.place_id = p.children LIMIT 2);

-- case: public rows around, HAVING
-- outcome: accepted
SELECT w.ward, (SELECT COUNT(*) FROM patients q WHERE q.ward = w.ward HAVING COUNT(*) > 1000) AS n FROM wards w;

-- case: public rows around, arithmetic
-- outcome: accepted
SELECT w.ward, (SELECT NULLIF(COUNT(*), 12) + w.beds FROM patients q WHERE q.ward = w.ward) AS n FROM wards w;

-- case: public rows around, a ratio
-- outcome: accepted
SELECT w.ward, (SELECT COALESCE(SUM(age), 0) / GREATEST(COUNT(*), 1) FROM patients q WHERE q.ward = w.ward) AS age FROM wards w;
