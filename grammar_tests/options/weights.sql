-- Which answers are to be more exact than others.

-- case: a sum before a count
-- outcome: accepted
-- plain: SELECT COUNT(*), SUM(cost) FROM visits
SELECT OPTIONS(weights = [1, 4]) COUNT(*) AS n, SUM(cost) AS cost FROM visits;

-- case: by group, with units, a spread and a correlation
-- outcome: accepted
-- plain: SELECT kind, COUNT(DISTINCT patient_id), VAR_POP(minutes), CORR(cost, minutes), AVG(cost) FROM visits GROUP BY kind
SELECT OPTIONS(weights = [2, 1, 7.5, 0.5]) kind, COUNT(DISTINCT patient_id) AS people, VAR_POP(minutes) AS v,
    CORR(cost, minutes) AS r, AVG(cost) AS mean FROM visits GROUP BY kind;

-- case: by a private key
-- outcome: accepted
-- plain: SELECT city, COUNT(*), SUM(age), AVG(height) FROM patients GROUP BY city
SELECT OPTIONS(weights = [3, 1, 2]) city, COUNT(*) AS n, SUM(age) AS years, AVG(height) AS height FROM patients GROUP BY city;

-- case: beside another option, with what stands in HAVING alone
-- outcome: accepted
-- plain: SELECT kind, SUM(minutes), AVG(cost) FROM visits GROUP BY kind HAVING COUNT(*) > 2
SELECT OPTIONS(weights = [0.5, 2], max_rows_contributed = 25) kind, SUM(minutes) AS m, AVG(cost) AS c FROM visits
GROUP BY kind HAVING COUNT(*) > 2;

-- case: an aggregate that stands twice is weighed once
-- outcome: accepted
-- plain: SELECT SUM(cost), 100 * SUM(cost) / COUNT(*) FROM visits
SELECT OPTIONS(weights = [1, 100]) SUM(cost) AS cost, 100 * SUM(cost) / COUNT(*) AS mean FROM visits;

-- case: many rows per unit, Laplace noise
-- outcome: accepted
-- policy: pure.toml
-- plain: SELECT kind, VAR_POP(cost), COUNT(*) FROM visits GROUP BY kind
SELECT OPTIONS(weights = [5, 3]) kind, VAR_POP(cost) AS v, COUNT(*) AS n FROM visits GROUP BY kind;

-- case: conditions that exclude each other
-- outcome: accepted
-- policy: pure.toml
-- plain: SELECT COUNT(*) FILTER (WHERE place_id > 2), SUM(cost) FILTER (WHERE place_id <= 2) FROM visits
SELECT OPTIONS(weights = [1, 9]) COUNT(*) FILTER (WHERE place_id > 2) AS n, SUM(cost) FILTER (WHERE place_id <= 2) AS c FROM visits;
