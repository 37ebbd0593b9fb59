Where clipping starts, as the query says it.

-- case: rows of a table about which the policy says nothing
-- outcome: accepted
-- plain: SELECT COUNT(*), SUM(seconds) FROM calls
SELECT OPTIONS(max_rows_contributed = 12) COUNT(*), SUM(seconds) FROM calls;

-- case: rows after a join
-- outcome: accepted
-- oracle: no-meaning (clipped at three rows of a patient)
-- plain: SELECT p.city, COUNT(*), SUM(v.cost) FROM visits v JOIN patients p USING (patient_id) GROUP BY p.city
SELECT OPTIONS(max_rows_contributed = 3) p.city, COUNT(*), SUM(v.cost)
FROM visits v JOIN patients p USING (patient_id) GROUP BY p.city;

-- case: one row of each unit
-- outcome: accepted
-- oracle: no-meaning (clipped at one row of a patient)
-- plain: SELECT kind, AVG(minutes) FROM visits GROUP BY kind
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(rows_per_unit = 1) kind, AVG(minutes) FROM visits GROUP BY kind;

-- case: more rows than the policy guesses
-- outcome: accepted
-- plain: SELECT COUNT(DISTINCT patient_id), COUNT(*) FROM visits
SELECT OPTIONS(max_rows_contributed = 10000) COUNT(DISTINCT patient_id), COUNT(*) FROM visits;

-- case: of one row for each unit nothing is clipped
-- outcome: accepted
-- plain: SELECT ward, SUM(income) FROM patients GROUP BY ward
SELECT OPTIONS(max_rows_contributed = 7) ward, SUM(income) FROM patients GROUP BY ward;

-- case: groups of each unit
-- outcome: accepted
-- oracle: no-meaning (clipped at two groups with one row each)
-- plain: SELECT place_id, COUNT(*) FROM visits GROUP BY place_id
SELECT OPTIONS(max_groups_contributed = 2) place_id, COUNT(*) FROM visits GROUP BY place_id;

-- case: groups where there is one
-- outcome: accepted
-- plain: SELECT SUM(cost), COUNT(*) FROM visits
SELECT OPTIONS(max_groups_contributed = 1) SUM(cost), COUNT(*) FROM visits;

-- case: the unit said again
-- outcome: accepted
-- plain: SELECT v.kind, COUNT(*) FROM visits AS v GROUP BY v.kind
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = v.patient_id) v.kind, COUNT(*)
FROM visits AS v GROUP BY v.kind;

-- case: the unit under another name
-- outcome: accepted
-- plain: SELECT AVG(n) FROM (SELECT patient_id AS who, COUNT(*) AS n FROM visits GROUP BY patient_id)
SELECT OPTIONS(privacy_unit_column = "WHO") AVG(n)
FROM (SELECT OPTIONS(privacy_unit_column = patient_id) patient_id AS who, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: private groups at a small price
-- outcome: accepted
-- epsilon: 0.25
-- oracle: no-meaning (clipped at two rows of a patient)
-- plain: SELECT city, COUNT(*) FROM visits JOIN patients USING (patient_id) GROUP BY city HAVING COUNT(*) > 3 ORDER BY 2 LIMIT 5
SELECT OPTIONS(epsilon = 0.25, max_rows_contributed = 2) city, COUNT(*)
FROM visits JOIN patients USING (patient_id)
GROUP BY city HAVING COUNT(*) > 3 ORDER BY 2 LIMIT 5;
