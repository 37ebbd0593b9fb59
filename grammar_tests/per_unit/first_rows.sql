-- The first row of a unit, in the ways to say so; and what leaves more than one.

-- case: below two
-- outcome: accepted
SELECT kind, COUNT(*) AS n, AVG(cost) AS cost FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE n < 2 GROUP BY kind;

-- case: among one
-- outcome: accepted
SELECT kind, COUNT(*) AS n, AVG(cost) AS cost FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE n IN (1) GROUP BY kind;

-- case: one equals it
-- outcome: accepted
SELECT kind, COUNT(*) AS n, AVG(cost) AS cost FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE 1 = n GROUP BY kind;

-- case: one is not less
-- outcome: accepted
SELECT kind, COUNT(*) AS n, AVG(cost) AS cost FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE 1 >= n GROUP BY kind;

-- case: two is more
-- outcome: accepted
SELECT kind, COUNT(*) AS n, AVG(cost) AS cost FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE 2 > n AND cost > 10 GROUP BY kind;

-- case: the first two
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE n < 3 GROUP BY kind;

-- case: among two
-- outcome: accepted
SELECT kind, COUNT(*) AS n, AVG(cost) AS cost FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE n IN (1, 2) GROUP BY kind;

-- case: from the first on
-- outcome: accepted
SELECT kind, COUNT(*) AS n, AVG(cost) AS cost FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE 1 <= n GROUP BY kind;

-- case: all but the first
-- outcome: accepted
SELECT kind, COUNT(*) AS n, AVG(cost) AS cost FROM (
    SELECT patient_id, kind, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n
    FROM visits
) WHERE NOT n IN (1) GROUP BY kind;

-- case: the first two orders
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY order_id) AS n FROM sales.orders)
WHERE n < 3;
