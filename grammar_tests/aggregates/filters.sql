-- FILTER, which gives each aggregate a condition of its own.

-- case: two counts with conditions
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE sex = 'F') AS women, COUNT(*) FILTER (WHERE sex = 'M') AS men, COUNT(*) AS n FROM patients;

-- case: a sum and a mean with conditions
-- outcome: accepted
SELECT SUM(cost) FILTER (WHERE urgent) AS urgent_cost, AVG(cost) FILTER (WHERE NOT urgent) AS mean_cost FROM visits;

-- case: a condition within a group
-- outcome: accepted
SELECT ward, COUNT(*) FILTER (WHERE age >= 65) AS old, COUNT(*) AS n FROM patients GROUP BY ward;

-- case: FILTER without the word WHERE
-- outcome: accepted
SELECT COUNT(*) FILTER (smoker AND insured) AS n FROM patients;

-- case: distinct units with a condition
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'surgery') AS operated FROM visits;

-- case: a share from two counts
-- outcome: accepted
SELECT kind, 100.0 * COUNT(*) FILTER (WHERE minutes > 60) / COUNT(*) AS percent_long FROM visits GROUP BY kind;

-- case: a condition that bounds the sum
-- outcome: accepted
SELECT SUM(score) FILTER (WHERE score >= 0 AND score < 4) AS total FROM patients;

-- case: a condition on a joined public column
-- outcome: accepted
SELECT SUM(v.cost) FILTER (WHERE l.city = 'Oslo') AS in_oslo FROM visits v JOIN places l USING (place_id);
