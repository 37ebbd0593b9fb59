The clause of BigQuery, in its long and its short form.

-- case: the price in the long form
-- outcome: accepted
-- epsilon: 2.5
-- plain: SELECT ward, COUNT(*) FROM patients GROUP BY ward
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 2.5, delta = 1e-7) ward, COUNT(*)
FROM patients
GROUP BY ward;

-- case: the price in the short form
-- outcome: accepted
-- epsilon: 0.5
-- plain: SELECT AVG(age) AS mean FROM patients
SELECT OPTIONS(epsilon = .5) AVG(age) AS mean FROM patients;

-- case: the clause without options
-- outcome: accepted
-- plain: SELECT sex, COUNT(*) AS n FROM patients GROUP BY ALL
SELECT WITH DIFFERENTIAL_PRIVACY sex, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: no option at all in the parentheses
-- outcome: accepted
-- plain: SELECT smoker, COUNT(*) AS n FROM patients GROUP BY smoker
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS() smoker, COUNT(*) AS n FROM patients GROUP BY smoker;

-- case: before DISTINCT
-- outcome: accepted
-- epsilon: 3
-- plain: SELECT DISTINCT ward FROM patients
select options(Epsilon = 3) distinct ward from patients;

-- case: before ALL
-- outcome: accepted
-- plain: SELECT ALL COUNT(*) FROM visits
SELECT OPTIONS(max_rows_contributed = 40) ALL COUNT(*) FROM visits;

-- case: in a query that begins with FROM
-- outcome: accepted
-- plain: FROM visits SELECT kind, COUNT(*) GROUP BY kind
FROM visits SELECT OPTIONS(max_rows_contributed = 30) kind, COUNT(*) GROUP BY kind;

-- case: in a CTE, and the price outside
-- outcome: accepted
-- epsilon: 4
-- plain: WITH w AS (SELECT ward, SUM(age) AS s FROM patients GROUP BY ward) SELECT MAX(s) FROM w
WITH w AS (
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = patient_id) ward, SUM(age) AS s
    FROM patients GROUP BY ward
)
SELECT OPTIONS(epsilon = 4) MAX(s) FROM w;

-- case: the price inside, said twice and alike
-- outcome: accepted
-- epsilon: 4
-- plain: SELECT a.n / b.n FROM (SELECT COUNT(*) AS n FROM visits) a, (SELECT COUNT(*) AS n FROM patients) b
SELECT a.n / b.n
FROM (SELECT OPTIONS(epsilon = 4) COUNT(*) AS n FROM visits) a,
    (SELECT OPTIONS(epsilon = 4.0) COUNT(*) AS n FROM patients) b;

-- case: on one side of a union
-- outcome: accepted
-- plain: SELECT 'v' AS what, COUNT(*) AS n FROM visits UNION ALL SELECT 'o', COUNT(*) FROM sales.orders
SELECT OPTIONS(rows_per_unit = 25) 'v' AS what, COUNT(*) AS n FROM visits
UNION ALL SELECT 'o', COUNT(*) FROM sales.orders;

-- case: in a scalar subquery
-- outcome: accepted
-- plain: SELECT kind, COUNT(*) - (SELECT COUNT(*) FROM patients) AS more FROM visits GROUP BY kind
SELECT kind, COUNT(*) - (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta = 0.0000001) COUNT(*) FROM patients) AS more
FROM visits GROUP BY kind;

-- case: over public tables a price is a ceiling that nothing reaches
-- outcome: accepted
-- plain: SELECT city, COUNT(*) FROM places GROUP BY city
SELECT OPTIONS(epsilon = 0.1, delta = 0) city, COUNT(*) FROM places GROUP BY city;

-- case: a column that is called options
-- outcome: accepted
SELECT ward AS options, COUNT(*) AS epsilon FROM patients GROUP BY options;

-- case: asked whatever it shows
-- outcome: accepted
-- plain: SELECT sex, COUNT(*) FROM patients GROUP BY sex
SELECT OPTIONS(anyway = true) sex, COUNT(*) FROM patients GROUP BY sex;

-- case: asked whatever it shows, inside a subquery
-- outcome: accepted
-- plain: SELECT SUM(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
SELECT SUM(n) FROM (SELECT OPTIONS(anyway = TRUE) sex, COUNT(*) AS n FROM patients GROUP BY sex);

-- case: no count is below 0
-- outcome: accepted
-- plain: SELECT ward, COUNT(*) AS n, SUM(age) AS years FROM patients GROUP BY ward
SELECT OPTIONS(non_negative = true) ward, COUNT(*) AS n, SUM(age) AS years FROM patients GROUP BY ward;

-- case: no cell of a cube is below 0
-- outcome: accepted
-- plain: SELECT ward, sex, smoker, COUNT(*) AS n FROM patients GROUP BY CUBE (ward, sex, smoker)
SELECT OPTIONS(non_negative = true) ward, sex, smoker, COUNT(*) AS n FROM patients GROUP BY CUBE (ward, sex, smoker);
