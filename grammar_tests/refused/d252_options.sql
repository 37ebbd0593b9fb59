Options that mean nothing where they stand, or are not the analyst's to choose.

-- case: rows where nothing is aggregated
-- outcome: refused D252 at 1:16
SELECT OPTIONS(max_rows_contributed = 3) MAX(n)
FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: rows in the work of one unit
-- outcome: refused D252 at 2:22
SELECT AVG(n)
FROM (SELECT OPTIONS(max_rows_contributed = 3) patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: rows of a projection
-- outcome: refused D252 at 1:38
SELECT COUNT(*) FROM (SELECT OPTIONS(rows_per_unit = 3) kind FROM visits);

-- case: rows of public tables
-- outcome: refused D252 at 1:16
SELECT OPTIONS(max_groups_contributed = 3) city, COUNT(*) FROM places GROUP BY city;

-- case: rows and groups at once
-- outcome: refused D252 at 1:42
-- instead: SELECT OPTIONS(max_groups_contributed = 2) kind, COUNT(*) FROM visits GROUP BY kind
SELECT OPTIONS(max_rows_contributed = 3, max_groups_contributed = 2) kind, COUNT(*) FROM visits GROUP BY kind;

-- case: values where none are counted
-- outcome: refused D252 at 1:16
-- instead: SELECT OPTIONS(max_values_contributed = 3) COUNT(DISTINCT kind) FROM visits
SELECT OPTIONS(max_values_contributed = 3) COUNT(*), COUNT(DISTINCT patient_id) FROM visits;

-- case: values in the work of one unit
-- outcome: refused D252 at 1:36
SELECT AVG(n) FROM (SELECT OPTIONS(max_values_contributed = 3) patient_id, COUNT(DISTINCT kind) AS n FROM visits GROUP BY patient_id);

-- case: values as a text
-- outcome: refused D205 at 1:16
-- instead: SELECT OPTIONS(max_values_contributed = 20) COUNT(DISTINCT kind) FROM visits
SELECT OPTIONS(max_values_contributed = 'many') COUNT(DISTINCT kind) FROM visits;

-- case: more values than anybody has
-- outcome: refused D305 at 1:16
-- instead: SELECT OPTIONS(max_values_contributed = 20) COUNT(DISTINCT kind) FROM visits
SELECT OPTIONS(max_values_contributed = 20000) COUNT(DISTINCT kind) FROM visits;

-- case: values beside an other group
-- outcome: refused D252 at 1:45
-- instead: SELECT OPTIONS(other_group = 'other') city, COUNT(*) AS n FROM patients GROUP BY city
SELECT OPTIONS(other_group = 'other') city, COUNT(DISTINCT ward) AS wards FROM patients GROUP BY city;

-- case: rows as a fraction
-- outcome: refused D205 at 1:16
SELECT OPTIONS(max_rows_contributed = 2.5) COUNT(*) FROM visits WHERE urgent;

-- case: no rows at all
-- outcome: refused D205 at 1:16
-- instead: SELECT OPTIONS(max_rows_contributed = 20) COUNT(*), SUM(cost) FROM visits
SELECT OPTIONS(max_rows_contributed = 0) COUNT(*), SUM(cost) FROM visits;

-- case: fewer than no groups
-- outcome: refused D205 at 1:16
-- instead: SELECT OPTIONS(max_groups_contributed = 20) kind, COUNT(*) FROM visits GROUP BY kind
SELECT OPTIONS(max_groups_contributed = -1) kind, COUNT(*) FROM visits GROUP BY kind;

-- case: more rows than anybody has
-- outcome: refused D305 at 1:16
-- instead: SELECT OPTIONS(max_rows_contributed = 20) COUNT(*) FROM visits WHERE kind = 'therapy'
SELECT OPTIONS(max_rows_contributed = 10001) COUNT(*) FROM visits WHERE kind = 'therapy';

-- case: another unit
-- outcome: refused D252 at 1:16
-- instead: SELECT COUNT(*) FROM visits
SELECT OPTIONS(privacy_unit_column = visit_id) COUNT(*) FROM visits;

-- case: a unit that is not there
-- outcome: refused D252 at 1:16
SELECT OPTIONS(privacy_unit_column = customer) COUNT(*) FROM visits;

-- case: a unit of released rows
-- outcome: refused D252 at 1:16
SELECT OPTIONS(privacy_unit_column = ward) ward FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: other groups of public tables
-- outcome: refused D252 at 1:16
-- instead: SELECT OPTIONS(other_group = 'others') city, COUNT(*) FROM patients GROUP BY city
SELECT OPTIONS(other_group = 'others') city, COUNT(*) FROM places GROUP BY city;

-- case: bounds of a count
-- outcome: refused D252 at 1:23
SELECT kind, COUNT(*, contribution_bounds_per_group => (0, 5)) FROM visits GROUP BY kind;

-- case: a count that is clamped
-- outcome: refused D252 at 1:26
-- instead: SELECT OPTIONS(max_rows_contributed = 20) COUNT(urgent) FROM visits
SELECT ANON_COUNT(urgent CLAMPED BETWEEN 0 AND 5) FROM visits;

-- case: bounds in the wrong order
-- outcome: refused D205 at 1:18
-- instead: SELECT SUM(score CLAMPED BETWEEN -5 AND 5) FROM patients
SELECT SUM(score CLAMPED BETWEEN 5 AND -5) FROM patients;

-- case: an aggregate that nobody knows
-- outcome: refused D204 at 1:8
SELECT ANON_MEDIAN(age) FROM patients;

-- case: an other group of listed groups
-- outcome: refused D252 at 1:16
SELECT OPTIONS(other_group = 'other') ward, COUNT(*) FROM patients GROUP BY ward;

-- case: an other group without groups
-- outcome: refused D252 at 1:16
-- instead: SELECT COUNT(*) FROM patients
SELECT OPTIONS(other_group = 'other') COUNT(*) FROM patients;

-- case: an other group of grouping sets
-- outcome: refused D252 at 1:16
-- instead: SELECT OPTIONS(other_group = 'other') city, COUNT(*) FROM patients GROUP BY city
SELECT OPTIONS(other_group = 'other') city, COUNT(*) FROM patients GROUP BY ROLLUP (city);

-- case: people who may be in several groups
-- outcome: refused D252 at 1:57
-- instead: SELECT OPTIONS(other_group = 'other') upper(drug) AS d, COUNT(*) AS n FROM treatments JOIN visits USING (visit_id) GROUP BY d
SELECT OPTIONS(other_group = 'other') upper(drug) AS d, COUNT(DISTINCT patient_id) AS n
FROM treatments JOIN visits USING (visit_id)
GROUP BY d;

-- case: an other group of patients
-- outcome: refused D252 at 1:36
SELECT AVG(n) FROM (SELECT OPTIONS(other_group = 'other') patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: a clip among tied rows
-- outcome: refused D252 at 2:32
SELECT COUNT(*) FROM visits v
WHERE v.cost > (SELECT OPTIONS(max_rows_contributed = 1) AVG(cost) FROM visits w WHERE w.patient_id = v.patient_id);

-- case: a clip where rows only choose
-- outcome: refused D252
SELECT COUNT(*) FROM patients p
WHERE EXISTS (SELECT OPTIONS(max_rows_contributed = 1) 1 FROM visits v WHERE v.patient_id = p.patient_id);

-- case: weights where nothing is released
-- outcome: refused D252 at 1:36
SELECT AVG(n) FROM (SELECT OPTIONS(weights = [1]) patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: weights of public rows
-- outcome: refused D252 at 1:16
-- instead: SELECT OPTIONS(weights = [1]) SUM(age) FROM patients
SELECT OPTIONS(weights = [1]) SUM(beds) FROM wards;

-- case: weights beside a median
-- outcome: refused D252 at 1:16
-- instead: SELECT COUNT(*), MEDIAN(age) FROM patients
SELECT OPTIONS(weights = [1, 2]) COUNT(*), MEDIAN(age) FROM patients;

-- case: a confidence of nothing
-- outcome: refused D252 at 1:29
-- instead: SELECT OPTIONS(within = 50, confidence = 0.9) AVG(age) FROM patients
SELECT OPTIONS(epsilon = 1, confidence = 0.9) AVG(age) FROM patients;

-- case: an accuracy of public rows
-- outcome: refused D252 at 1:16
-- instead: SELECT OPTIONS(within = 5) COUNT(*) FROM patients
SELECT OPTIONS(within = 5) * FROM wards;

-- case: an accuracy that depends on the rows
-- outcome: refused D252 at 1:16
SELECT OPTIONS(within = 5) AVG(age), ward FROM patients GROUP BY ward;

-- case: an accuracy of a stage that depends on the rows
-- outcome: refused D252 at 1:16
SELECT OPTIONS(within = 7) COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients);

-- case: an accuracy of arithmetic
-- outcome: refused D252 at 1:28
-- instead: SELECT OPTIONS(within = 5) COUNT(*) AS n FROM patients
SELECT OPTIONS(within = 5) COUNT(*) * 2 FROM patients;

-- case: an accuracy of arithmetic outside
-- outcome: refused D252 at 1:14
SELECT ward, n + 1 FROM (SELECT OPTIONS(within = 5) ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: an accuracy of what is not shown
-- outcome: refused D252 at 1:16
SELECT OPTIONS(within = 9, other_group = 'rest') city, COUNT(*) FROM patients GROUP BY city;

-- case: a part of every group's number
-- outcome: refused D252 at 1:16
-- instead: SELECT OPTIONS(within = 20) ward, COUNT(*) FROM patients GROUP BY ward
SELECT OPTIONS(within = '5%') ward, COUNT(*) FROM patients GROUP BY ward;

-- case: a part of a number that waits for another
-- outcome: refused D252 at 1:16
SELECT OPTIONS(within = '5%') COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients);

-- case: a part of public rows
-- outcome: refused D252 at 1:16
SELECT OPTIONS(within = '5%') COUNT(*) FROM wards;

-- case: an accuracy of what is chosen
-- outcome: refused D252 at 1:16
SELECT OPTIONS(within = '20%') MEDIAN(age) FROM patients;

-- case: a number of items without a list
-- outcome: refused D252 at 1:16
-- instead: SELECT OPTIONS(max_unnest = 3) COUNT(*) FROM patients, unnest(allergies) AS u(a)
SELECT OPTIONS(max_unnest = 3) COUNT(*) FROM patients;

-- case: an accuracy instead of a price
-- outcome: refused D252 at 1:45
-- policy: finds.toml
-- instead: SELECT OPTIONS(max_rows_contributed = auto, epsilon = 0.5) COUNT(*) AS n FROM visits
SELECT OPTIONS(max_rows_contributed = auto, within = 50) COUNT(*) AS n FROM visits;

-- case: a median is in its range already
-- outcome: refused D252 at 1:16
-- instead: SELECT MEDIAN(age) FROM patients
SELECT OPTIONS(non_negative = true) MEDIAN(age) FROM patients;

-- case: nothing of public rows is noised
-- outcome: refused D252 at 1:16
-- instead: SELECT COUNT(*) FROM wards
SELECT OPTIONS(non_negative = true) COUNT(*) FROM wards;
