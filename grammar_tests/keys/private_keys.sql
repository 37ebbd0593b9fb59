-- Keys that only the data knows: a group appears when the noisy number of people behind it passes the threshold.

-- case: a text without declared values
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM patients GROUP BY city;

-- case: no count in the select list
-- outcome: accepted
SELECT city, SUM(age) AS years FROM patients GROUP BY city;

-- case: a count of people, which decides by itself
-- outcome: accepted
SELECT drug, COUNT(DISTINCT v.patient_id) AS people
FROM treatments t JOIN visits v ON v.visit_id = t.visit_id
GROUP BY drug;

-- case: a count of rows, which does not
-- outcome: accepted
SELECT place_id, COUNT(*) AS visits FROM visits GROUP BY place_id;

-- case: an exact number
-- outcome: accepted
SELECT height, COUNT(*) AS n FROM patients GROUP BY height;

-- case: an enum whose list nobody declared
-- outcome: accepted
SELECT blood, AVG(age) AS mean_age FROM patients GROUP BY blood;

-- case: a private key and a public one
-- outcome: accepted
SELECT city, sex, COUNT(*) AS n FROM patients GROUP BY city, sex;

-- case: two private keys
-- outcome: accepted
SELECT city, blood, COUNT(*) AS n, SUM(children) AS children FROM patients GROUP BY ALL;

-- case: an expression over a private key
-- outcome: accepted
SELECT UPPER(SUBSTR(city, 1, 1)) AS initial, COUNT(*) AS n FROM patients GROUP BY initial;

-- case: the missing value as a group of its own
-- outcome: accepted
SELECT COALESCE(city, 'unknown') AS city, COUNT(*) AS n FROM patients GROUP BY 1;

-- case: an hour of some day: too many for a list
-- outcome: accepted
SELECT date_trunc('hour', seen_at) AS hour, COUNT(*) AS n FROM visits GROUP BY hour ORDER BY hour;

-- case: a date, whose range is too long for a list
-- outcome: accepted
SELECT CAST(seen_at AS DATE) AS day, COUNT(*) AS n FROM visits GROUP BY day;

-- case: the keys alone of a number that has a range: which of them occur
-- outcome: accepted
SELECT DISTINCT age FROM patients;

-- case: two ranges that multiply to too many groups, which nobody listed
-- outcome: accepted
SELECT age, age // 2 AS half, year(born) AS year, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: two lists that multiply to too many groups
-- outcome: accepted
SELECT trunc(income / 1000) AS income, CAST(year(born) AS VARCHAR) AS year, CAST(age AS VARCHAR) AS age, COUNT(*) AS n
FROM patients
GROUP BY ALL;

-- case: a private key below a join
-- outcome: accepted
SELECT p.city, SUM(v.cost) AS cost FROM patients p JOIN visits v USING (patient_id) GROUP BY p.city;

-- case: a private key and FILTER
-- outcome: accepted
SELECT method, COUNT(*) FILTER (WHERE status = 'paid') AS paid, SUM(amount) AS amount FROM sales.orders GROUP BY method;

-- case: a private key whose group holds one person
-- outcome: accepted
SELECT city, AVG(income) AS mean_income FROM patients WHERE city <> 'Oslo' GROUP BY city;

-- case: HAVING brings no key back
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM patients GROUP BY city HAVING COUNT(*) < 1000;

-- case: the keys of an empty table
-- outcome: accepted
SELECT reason, COUNT(*) AS n FROM referrals GROUP BY reason;

-- case: a float, where NaN is a group and the two zeros are one
-- outcome: accepted
SELECT cost, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY cost;

-- case: counts per unit in fives
-- outcome: accepted
SELECT n // 5 AS fives, COUNT(*) AS patients
FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY 1;
