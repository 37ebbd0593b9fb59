-- Conditions of one query that overlap or exclude each other: a row pays for what it can be in together.

-- case: males, females, and those below an age of each
-- outcome: accepted
-- policy: pure.toml
SELECT COUNT(*) FILTER (WHERE sex = 'M') AS males, COUNT(*) FILTER (WHERE sex = 'M' AND age < 25) AS young_males,
       COUNT(*) FILTER (WHERE sex = 'F') AS females, COUNT(*) FILTER (WHERE sex = 'F' AND age < 25) AS young_females
FROM patients;

-- case: one inside the other, and everybody
-- outcome: accepted
-- policy: pure.toml
SELECT COUNT_IF(age < 18.5) AS a, COUNT_IF(age < 25) AS b, COUNT_IF(age < 30) AS c, COUNT(*) AS n FROM patients;

-- case: two that cross
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT_IF(sex = 'M') AS males, COUNT_IF(age < 40) AS young,
       COUNT_IF(sex = 'M' AND age < 40) AS both
FROM patients;

-- case: what is given, and what is not
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(age) AS ages, COUNT(city) AS cities, COUNT_IF(age IS NULL) AS missing FROM patients;

-- case: the same by group, over many rows of a patient
-- outcome: accepted
SELECT kind, COUNT_IF(minutes < 30) AS short, COUNT_IF(minutes < 60) AS longer, COUNT(*) AS n
FROM visits GROUP BY kind;

-- case: the same without delta
-- outcome: accepted
-- policy: pure.toml
SELECT kind, COUNT_IF(cost < 100) AS cheap, COUNT_IF(cost < 1000) AS fair, COUNT(*) AS n, SUM(cost) AS total
FROM visits GROUP BY kind;

-- case: groups that are not public
-- outcome: accepted
SELECT city, COUNT_IF(age < 18) AS children, COUNT_IF(age < 65) AS younger, COUNT(*) AS n FROM patients GROUP BY city;

-- case: means that share no row
-- outcome: accepted
SELECT AVG(age) FILTER (WHERE sex = 'F') AS of_women, AVG(age) FILTER (WHERE sex = 'M') AS of_men FROM patients;

-- case: sums chosen by CASE, and their total
-- outcome: accepted
SELECT SUM(CASE WHEN kind = 'surgery' THEN cost ELSE 0 END) / SUM(cost) AS share,
       SUM(CASE WHEN kind = 'therapy' THEN cost END) AS therapy
FROM visits;

-- case: a condition that is a number
-- outcome: accepted
SELECT SUM(smoker) AS smokers, SUM((NOT smoker)::INTEGER) AS others, SUM(CASE WHEN insured THEN 1 ELSE 0 END) AS insured
FROM patients;

-- case: units of conditions that exclude each other
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'surgery') AS operated,
       COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'therapy') AS treated, COUNT_IF(kind = 'checkup') AS checkups
FROM visits;

-- case: by a public group and in all
-- outcome: accepted
SELECT sex, COUNT_IF(age < 40) AS young, COUNT_IF(age < 60) AS younger, COUNT(*) AS n
FROM patients GROUP BY ROLLUP (sex);

-- case: shares of every group
-- outcome: accepted
SELECT ward, 1.0 * COUNT_IF(smoker) / NULLIF(COUNT(*), 0) AS smoking,
       1.0 * COUNT_IF(smoker AND insured) / NULLIF(COUNT(*), 0) AS both
FROM patients GROUP BY ward ORDER BY ward;

-- case: conditions that are never true
-- outcome: accepted
SELECT COUNT_IF(age < 10 AND age > 20) AS nobody, COUNT_IF(age < 10) AS a, COUNT_IF(age < 20) AS b FROM patients;

-- case: values that break what is declared
-- outcome: accepted
SELECT COUNT_IF(sex <> 'F') AS not_f, COUNT_IF(sex <> 'M') AS not_m, COUNT_IF(age > 120) AS old, COUNT_IF(age >= 0) AS n
FROM patients;

-- case: dates and texts in order
-- outcome: accepted
SELECT COUNT_IF(born < DATE '1960-01-01') AS a, COUNT_IF(born < '1980-01-01') AS b, COUNT_IF(born IS NOT NULL) AS c,
       COUNT_IF(ward <= 'B') AS d
FROM patients;

-- case: a joined public column
-- outcome: accepted
SELECT COUNT_IF(l.city = 'Oslo') AS oslo, COUNT_IF(l.city = 'Bergen') AS bergen, COUNT(*) AS n,
       SUM(v.cost) FILTER (WHERE l.city = 'Oslo') AS cost
FROM visits v JOIN places l USING (place_id);

-- case: moments of rows that exclude each other
-- outcome: accepted
-- policy: pure.toml
SELECT kind, VAR_POP(cost) FILTER (WHERE cost < 1000) AS low, VAR_POP(cost) FILTER (WHERE cost > 2000) AS high
FROM visits GROUP BY kind;

-- case: of a pair, of one argument and of none, over rows that exclude each other
-- outcome: accepted
-- policy: pure.toml
SELECT kind, CORR(cost, place_id % 5) FILTER (WHERE cost < 1000) AS low,
       VAR_POP(cost) FILTER (WHERE cost BETWEEN 2000 AND 3000) AS middle,
       AVG(cost) FILTER (WHERE cost BETWEEN 3500 AND 4000) AS high, COUNT_IF(cost > 4500) AS highest
FROM visits GROUP BY kind;

-- case: nested sums of one argument, clipped
-- outcome: accepted
SELECT SUM(cost) AS in_all, SUM(cost) FILTER (WHERE minutes < 10) AS a, SUM(cost) FILTER (WHERE minutes < 20) AS b,
       SUM(cost) FILTER (WHERE minutes < 30) AS c, SUM(cost) FILTER (WHERE minutes < 40 OR urgent) AS d
FROM visits;

-- case: sums of one argument under conditions that leave each a range of its own
-- outcome: accepted
-- policy: pure.toml
SELECT kind, SUM(cost) FILTER (WHERE cost < 2000) AS cheap, SUM(cost) FILTER (WHERE cost < 3000) AS fair,
       SUM(cost) FILTER (WHERE cost < 4000) AS high, SUM(cost) AS cost
FROM visits GROUP BY ROLLUP (kind);
