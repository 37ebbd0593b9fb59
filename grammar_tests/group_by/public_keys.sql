-- Keys whose values are known without looking: every group appears, empty ones too.

-- case: declared values
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward;

-- case: a boolean that may be NULL
-- outcome: accepted
SELECT insured, AVG(age) AS mean_age FROM patients GROUP BY insured;

-- case: a boolean that may not
-- outcome: accepted
SELECT smoker, COUNT(*) AS n, SUM(income) AS income FROM patients GROUP BY smoker;

-- case: a comparison
-- outcome: accepted
SELECT age >= 40 AS older, COUNT(*) AS n FROM patients GROUP BY age >= 40;

-- case: two keys
-- outcome: accepted
SELECT ward, sex, COUNT(*) AS n FROM patients GROUP BY ward, sex;

-- case: three keys of three kinds
-- outcome: accepted
SELECT v.kind, v.urgent, l.city, SUM(v.cost) AS cost
FROM visits v JOIN places l ON l.place_id = v.place_id
GROUP BY v.kind, v.urgent, l.city;

-- case: an ordinal
-- outcome: accepted
SELECT COUNT(*) AS n, ward FROM patients GROUP BY 2;

-- case: an alias
-- outcome: accepted
SELECT insured IS NULL AS unknown, COUNT(*) AS n FROM patients GROUP BY unknown;

-- case: GROUP BY ALL
-- outcome: accepted
SELECT kind, urgent, COUNT(*) AS n, AVG(minutes) AS mean_minutes FROM visits GROUP BY ALL;

-- case: a key that is not selected
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients GROUP BY sex;

-- case: a key inside a larger expression
-- outcome: accepted
SELECT 'ward ' || ward AS name, COUNT(*) AS n FROM patients GROUP BY ward;

-- case: a CASE of constants
-- outcome: accepted
SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 67 THEN 'adult' ELSE 'senior' END AS stage, COUNT(*) AS n
FROM patients
GROUP BY stage;

-- case: the same key twice
-- outcome: accepted
SELECT ward AS a, ward AS b, COUNT(*) AS n FROM patients GROUP BY a, b;

-- case: the value and its test for NULL
-- outcome: accepted
SELECT ward, ward IS NULL AS nowhere, COUNT(*) AS n FROM patients GROUP BY ward, nowhere;

-- case: a constant as key
-- outcome: accepted
SELECT 'all' AS what, COUNT(*) AS n FROM patients GROUP BY what;

-- case: a key filtered to some of its values
-- outcome: accepted
SELECT ward, AVG(income) AS mean_income FROM patients WHERE ward IN ('B', 'C') GROUP BY ward;

-- case: a key with its NULL filled in
-- outcome: accepted
SELECT COALESCE(ward, 'none') AS ward_or_none, COUNT(*) AS n FROM patients GROUP BY ward_or_none;

-- case: the parts of a date
-- outcome: accepted
SELECT EXTRACT(year FROM visited_on) AS year, COUNT(*) AS n FROM visits GROUP BY year;

-- case: the weekday of a timestamp
-- outcome: accepted
SELECT dayofweek(seen_at) AS weekday, SUM(minutes) AS minutes FROM visits GROUP BY weekday;

-- case: a bounded range cut in ten
-- outcome: accepted
SELECT age // 10 AS decade, COUNT(*) AS n FROM patients GROUP BY decade;

-- case: a joined column beside a declared one
-- outcome: accepted
SELECT w.floor, p.sex, COUNT(*) AS n FROM patients p JOIN wards w ON w.ward = p.ward GROUP BY w.floor, p.sex;

-- case: the key of a public table and a column that hangs on it
-- outcome: accepted
SELECT v.place_id, l.kind, COUNT(*) AS n FROM visits v JOIN places l USING (place_id) GROUP BY v.place_id, l.kind;

-- case: the empty list of keys
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients GROUP BY ();

-- case: a parenthesised list of keys
-- outcome: accepted
SELECT status, AVG(amount) AS mean_amount FROM sales.orders GROUP BY (status);

-- case: a value listed twice is one group
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients WHERE ward IN ('A', 'B', 'A') GROUP BY ward;

-- case: a number listed twice in two spellings
-- outcome: accepted
SELECT age, COUNT(*) AS n FROM patients WHERE age IN (40, 40.0, 41, 9223372036854775807) GROUP BY age;

-- case: an empty text as a key
-- outcome: accepted
SELECT '', COUNT(*) FROM patients GROUP BY '';

-- case: a constant that is computed
-- outcome: accepted
SELECT pi() AS k, COUNT(*) AS n FROM patients GROUP BY 1;
