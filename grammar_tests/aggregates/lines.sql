-- Sums of lines of one argument are told by one measured sum, if none of them has more noise then.

-- case: shifted and scaled
-- outcome: accepted
SELECT SUM(age) AS years, SUM(age + 1) AS later, SUM(age * 12) AS months, AVG(2 * age - 5) AS mean FROM patients;

-- case: scaled alone
-- outcome: accepted
SELECT SUM(cost) AS cost, SUM(cost * 0.25) AS tax, SUM(-cost) AS less, SUM(cost / 8) AS eighth FROM visits;

-- case: of which none is the value itself
-- outcome: accepted
SELECT ward, SUM(60 - age) AS to_sixty, SUM(age - 18) AS from_eighteen, AVG(age + 1) AS mean FROM patients GROUP BY ward;

-- case: decimals and floats
-- outcome: accepted
SELECT SUM(height) AS h, SUM(height * 0.01) AS metres, AVG(height - 100.5) AS more, SUM(height::DOUBLE + 0.125) AS floats FROM patients;

-- case: with counts and a private key
-- outcome: accepted
SELECT city, COUNT(*) AS n, SUM(age) AS years, SUM(age + 1) AS later FROM patients GROUP BY city;

-- case: with a moment of one of them
-- outcome: accepted
SELECT AVG(minutes) AS mean, STDDEV_SAMP(minutes / 60) AS spread, SUM(minutes * 60) AS seconds, SUM(minutes + 1) AS later FROM visits;

-- case: with Laplace noise, under conditions
-- outcome: accepted
-- policy: pure.toml
SELECT ward, SUM(age) FILTER (WHERE sex = 'F') AS women, SUM(age + 1) FILTER (WHERE sex = 'F') AS later, SUM(age * 2) AS double FROM patients GROUP BY ward;

-- case: beside other sums
-- outcome: accepted
SELECT SUM(age + 100) AS a, SUM(age + 101) AS b, SUM(income) AS income, SUM(children) AS children, SUM(height) AS h FROM patients;

-- case: of sums that share their rows
-- outcome: accepted
SELECT SUM(spent) AS minutes, SUM(spent * 60) AS seconds, SUM(spent + 1) AS more
FROM (SELECT patient_id, kind, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind);

-- case: of sums of two arguments
-- outcome: accepted
SELECT SUM(cost) AS c, SUM(minutes) AS m, SUM(cost + minutes) AS both FROM visits;

-- case: which overflow outside their range
-- outcome: accepted
SELECT SUM(age) AS years, SUM(age + 2147483000) AS much, SUM(children) AS n, SUM(children * 30::TINYINT) AS thirties FROM patients;

-- case: beside the count of what is not NULL
-- outcome: accepted
SELECT COUNT(age + 1) AS n, SUM(age + 1) AS s, SUM(age) AS t, COUNT(age) AS m FROM patients;

-- case: in a stage, with arithmetic and margins
-- outcome: accepted
SELECT ward, (SUM(age + 1) - SUM(age)) / 2 AS half, AVG(age * 2) - AVG(age) AS mean FROM patients GROUP BY ward;

-- case: with weights
-- outcome: accepted
-- plain: SELECT SUM(age) AS a, SUM(age * 2) AS b, COUNT(*) AS n FROM patients
SELECT OPTIONS(weights = [1, 4, 1]) SUM(age) AS a, SUM(age * 2) AS b, COUNT(*) AS n FROM patients;

-- case: running totals are of one sum each
-- outcome: accepted
SELECT day, SUM(SUM(minutes)) OVER (ORDER BY day) AS so_far, SUM(minutes + 1) AS later
FROM (SELECT patient_id, visited_on AS day, minutes FROM visits WHERE visited_on BETWEEN '2023-01-01' AND '2023-02-01') GROUP BY day;
