-- Expressions over declared columns: their values are known without looking, so every group appears.

-- case: a month of a declared range
-- outcome: accepted
SELECT date_trunc('month', seen_at) AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month;

-- case: a year of a date
-- outcome: accepted
SELECT year(born) AS year, COUNT(*) AS n FROM patients GROUP BY year(born);

-- case: months within a narrower range
-- outcome: accepted
SELECT date_trunc('month', visited_on) AS month, COUNT(cost) AS n
FROM visits
WHERE visited_on >= DATE '2024-01-01'
GROUP BY 1;

-- case: a date as text
-- outcome: accepted
SELECT strftime(visited_on, '%Y-%m') AS month, AVG(minutes) AS minutes FROM visits GROUP BY month;

-- case: the year of a timestamp, as text
-- outcome: accepted
SELECT strftime(seen_at, 'in %Y') AS year, COUNT(*) AS n FROM visits GROUP BY year;

-- case: a quarter of the day
-- outcome: accepted
SELECT hour(seen_at) // 6 AS quarter, COUNT(*) AS n FROM visits GROUP BY quarter;

-- case: the weekday's first letters
-- outcome: accepted
SELECT left(dayname(visited_on), 2) AS day, COUNT(*) AS n FROM visits GROUP BY day;

-- case: the first day of a year
-- outcome: accepted
SELECT make_date(year(visited_on), 1, 1) AS new_year, COUNT(*) AS n FROM visits GROUP BY new_year;

-- case: a date cut to days and then to a year
-- outcome: accepted
SELECT date_trunc('year', CAST(seen_at AS DATE)) AS year, COUNT(*) AS n FROM visits GROUP BY year;

-- case: text in another case
-- outcome: accepted
SELECT lower(sex) AS sex, COUNT(*) AS n FROM patients GROUP BY lower(sex);

-- case: the beginning of a declared text
-- outcome: accepted
SELECT substring(kind, 1, 3) AS short, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY short;

-- case: two declared columns glued together
-- outcome: accepted
SELECT ward || '/' || sex AS place, AVG(age) AS mean_age FROM patients GROUP BY place;

-- case: a number as text
-- outcome: accepted
SELECT 'aged ' || CAST(age AS VARCHAR) AS age, COUNT(*) AS n FROM patients GROUP BY 1;

-- case: a quotient that is not whole
-- outcome: accepted
SELECT age / 40 AS part, COUNT(*) AS n FROM patients GROUP BY part;

-- case: a rounded logarithm
-- outcome: accepted
SELECT round(ln(age + 1), 1) AS size, COUNT(*) AS n FROM patients GROUP BY size;

-- case: an age or a ward
-- outcome: accepted
SELECT CASE WHEN age < 18 THEN 'minor' ELSE ward END AS what, COUNT(*) AS n FROM patients GROUP BY what;

-- case: constants chosen by a column without any bound
-- outcome: accepted
SELECT upper(CASE WHEN score > 1 THEN 'high ' WHEN score <= 1 THEN 'low ' ELSE 'none ' END || sex) AS what, COUNT(*) AS n
FROM patients
GROUP BY what;

-- case: a float cut to steps
-- outcome: accepted
SELECT floor(income / 100000) AS step, COUNT(*) AS n FROM patients GROUP BY step;

-- case: a float cut to steps and scaled back
-- outcome: accepted
SELECT 100000 * floor(income / 100000) AS from_income, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY 1;

-- case: a float rounded to hundreds
-- outcome: accepted
SELECT round(cost, -2) AS about, COUNT(*) AS n FROM visits GROUP BY about;

-- case: a float cast to an integer
-- outcome: accepted
SELECT CAST(income / 100000 AS INTEGER) AS step, COUNT(*) AS n FROM patients GROUP BY step;

-- case: a decimal cut to steps
-- outcome: accepted
SELECT ceil(amount / 2500) AS step, COUNT(*) AS n FROM sales.orders GROUP BY step;

-- case: a step and a declared value
-- outcome: accepted
SELECT trunc(cost / 1000) AS step, kind, COUNT(*) AS n FROM visits GROUP BY step, kind;

-- case: one expression of two columns
-- outcome: accepted
SELECT age // 30 + CAST(smoker AS INTEGER) * 10 AS code, COUNT(*) AS n FROM patients GROUP BY code;

-- case: the difference of two years
-- outcome: accepted
SELECT date_diff('year', born, registered) // 20 AS age_then, COUNT(*) AS n FROM patients GROUP BY age_then;

-- case: an expression that was named below
-- outcome: accepted
SELECT decade, COUNT(*) AS n FROM (SELECT age // 10 AS decade, income FROM patients) WHERE income > 1000 GROUP BY decade;

-- case: an expression over a named expression
-- outcome: accepted
WITH p AS (SELECT lower(ward) AS w, age FROM patients) SELECT upper(w) || '!' AS name, AVG(age) AS mean_age FROM p GROUP BY name;

-- case: an expression over the key of a public table
-- outcome: accepted
SELECT lower(w.ward) AS name, COUNT(*) AS n FROM patients p JOIN wards w ON w.ward = p.ward GROUP BY name;

-- case: an expression over a public table that may miss
-- outcome: accepted
SELECT COALESCE(w.floor * 10, 0) AS rooms, COUNT(*) AS n FROM patients p LEFT JOIN wards w ON w.ward = p.ward GROUP BY rooms;

-- case: steps of a per-unit count
-- outcome: accepted
SELECT LEAST(n, 3) AS visits, COUNT(*) AS people FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY 1;

-- case: a list that is empty but for NULL
-- outcome: accepted
SELECT NULLIF(age, age) AS nothing, COUNT(*) AS n FROM patients GROUP BY nothing;

-- case: infinity is on no list, and the key a private one
-- outcome: accepted
SELECT age / 0 AS endless, COUNT(*) AS n FROM patients GROUP BY endless;

-- case: a listed expression rolled up
-- outcome: accepted
SELECT age // 20 AS part, sex, COUNT(*) AS n FROM patients GROUP BY ROLLUP (part, sex);

-- case: an expression without any delta
-- outcome: accepted
-- policy: pure.toml
SELECT age // 10 AS decade, COUNT(*) AS n FROM patients GROUP BY decade;

-- case: an expression named on one side of a FULL JOIN
-- outcome: accepted
SELECT decade, COUNT(*) AS n
FROM (SELECT patient_id, age // 10 AS decade FROM patients) AS p FULL JOIN visits v ON p.patient_id = v.patient_id
GROUP BY decade;

-- case: every second number of a window
-- outcome: accepted
SELECT number // 2 AS pair, COUNT(*) AS n
FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS number FROM visits)
GROUP BY pair;

-- case: a number that only has a range
-- outcome: accepted
SELECT age, COUNT(*) AS n FROM patients GROUP BY age;

-- case: the same without any delta
-- outcome: accepted
-- policy: pure.toml
SELECT age, COUNT(*) AS n FROM patients GROUP BY age;

-- case: a day within a narrower range
-- outcome: accepted
SELECT visited_on, COUNT(DISTINCT patient_id) AS people FROM visits WHERE visited_on >= DATE '2024-12-01' GROUP BY visited_on;

-- case: a number with a range, rolled up beside a private key
-- outcome: accepted
SELECT age, city, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((age), (city), ());

-- case: the largest number of a unit, in the range of each
-- outcome: accepted
SELECT most, COUNT(*) AS people
FROM (SELECT patient_id, MAX(minutes) AS most FROM visits WHERE minutes < 100 GROUP BY patient_id) GROUP BY most;

-- case: a column that is equal to the key of a public table
-- outcome: accepted
SELECT v.place_id, COUNT(*) AS n FROM visits v JOIN places p ON p.place_id = v.place_id GROUP BY v.place_id;
