-- Ranges narrowed by conditions: none of these sums would be bounded otherwise.

-- case: a branch within its own condition
-- outcome: accepted
SELECT SUM(CASE WHEN score BETWEEN -2 AND 2 THEN score END) AS s FROM patients;

-- case: a branch within its own condition, and another
-- outcome: accepted
SELECT SUM(CASE WHEN score BETWEEN 0 AND 2 THEN score WHEN score BETWEEN -2 AND 0 THEN -score ELSE 0 END) AS s FROM patients;

-- case: what is left for the ELSE
-- outcome: accepted
SELECT SUM(CASE WHEN score > 2 THEN 2 WHEN score < -2 THEN -2 ELSE score END) AS s FROM patients WHERE score = score;

-- case: what is left after an OR
-- outcome: accepted
SELECT SUM(CASE WHEN score > 2 OR score < -2 THEN 0 ELSE score END) AS s FROM patients WHERE score = score;

-- case: IF and its two branches
-- outcome: accepted
SELECT SUM(IF(score < 1 AND score > -1, score, 1)) AS s, SUM(IF(steps > 1000, 1000, IF(steps < 0, 0, steps))) AS t FROM patients p JOIN visits v ON p.patient_id = v.patient_id;

-- case: a ratio away from zero
-- outcome: accepted
SELECT SUM(CASE WHEN children > 0 THEN income / children END) AS per_child FROM patients;

-- case: a logarithm away from zero, by a condition
-- outcome: accepted
SELECT SUM(CASE WHEN cost >= 1 THEN LN(cost) END) AS l FROM visits;

-- case: a choice inside a choice, narrowed by both
-- outcome: accepted
SELECT SUM(CASE WHEN score < 3 THEN CASE WHEN score > -3 THEN score * 2 END END) AS s FROM patients;

-- case: a bound that another column has
-- outcome: accepted
SELECT SUM(CASE WHEN score BETWEEN 0 AND age THEN score END) AS s FROM patients;

-- case: one of two ranges
-- outcome: accepted
SELECT SUM(score) AS s FROM patients WHERE score BETWEEN -2 AND -1 OR score BETWEEN 1 AND 2;

-- case: one of two values
-- outcome: accepted
SELECT SUM(steps - 1000) AS s FROM visits WHERE steps = 1010 OR steps = 1020 OR steps IN (1030, 1040);

-- case: a negated comparison
-- outcome: accepted
SELECT SUM(score) AS s FROM patients WHERE NOT (score > 2 OR score < -2) AND NOT score <> score;

-- case: not distinct from a value
-- outcome: accepted
SELECT SUM(steps) AS s FROM visits WHERE steps IS NOT DISTINCT FROM 1010;

-- case: a comparison that is true
-- outcome: accepted
SELECT SUM(steps) AS s FROM visits WHERE (steps BETWEEN 1000 AND 1100) IS TRUE;

-- case: a condition of a FILTER
-- outcome: accepted
SELECT SUM(score) FILTER (WHERE score = 1 OR score BETWEEN -1 AND 0.5) AS s FROM patients;

-- case: keys that a condition lists
-- outcome: accepted
SELECT CASE WHEN city = 'Oslo' OR city = 'Bergen' THEN city ELSE 'elsewhere' END AS place, COUNT(*) AS n FROM patients GROUP BY place;

-- case: keys that are left
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients WHERE ward <> 'A' AND ward IS DISTINCT FROM 'B' GROUP BY ward;

-- case: keys that are true
-- outcome: accepted
SELECT smoker, COUNT(*) AS n FROM patients WHERE smoker GROUP BY smoker;

-- case: a date within a condition
-- outcome: accepted
SELECT SUM(CASE WHEN noted_on BETWEEN '2020-01-01' AND '2025-12-31' THEN noted_on - DATE '2020-01-01' END) AS d FROM reactions;
