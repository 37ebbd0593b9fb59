-- Windows, QUALIFY, DISTINCT ON: inside one unit's rows.

-- case: the latest visit
-- outcome: accepted
SELECT AVG(cost) AS cost FROM (
    SELECT patient_id, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on DESC, visit_id) AS n FROM visits)
WHERE n = 1;

-- case: the latest visit by QUALIFY
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (
    SELECT patient_id, kind FROM visits
    QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on DESC, visit_id) = 1)
GROUP BY kind;

-- case: QUALIFY by an alias
-- outcome: accepted
SELECT SUM(minutes) AS minutes FROM (
    SELECT patient_id, minutes, RANK() OVER (PARTITION BY patient_id ORDER BY cost) AS place FROM visits QUALIFY place <= 2);

-- case: the change from the visit before
-- outcome: accepted
-- plain: SELECT AVG(LEAST(GREATEST(change, -100), 100)) FILTER (change IS NOT NULL) AS change FROM (SELECT cost - LAG(cost) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS change FROM visits WHERE patient_id IS NOT NULL)
SELECT AVG(change CLAMPED BETWEEN -100 AND 100) AS change FROM (
    SELECT patient_id, cost - LAG(cost) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS change FROM visits);

-- case: days between visits
-- outcome: accepted
SELECT AVG(LEAST(days, 365)) AS days FROM (
    SELECT patient_id,
        date_diff('day', LAG(visited_on) OVER (PARTITION BY patient_id ORDER BY visited_on), visited_on) AS days
    FROM visits)
WHERE days >= 0;

-- case: a share of the unit's total
-- outcome: accepted
SELECT kind, AVG(LEAST(GREATEST(share, 0), 1)) AS share FROM (
    SELECT patient_id, kind, minutes / SUM(minutes) OVER (PARTITION BY patient_id) AS share FROM visits)
GROUP BY kind;

-- case: a running count
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id, COUNT(*) OVER (PARTITION BY patient_id ORDER BY visited_on) AS so_far FROM visits) WHERE so_far > 2;

-- case: a frame of rows
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id, AVG(minutes) OVER (
        PARTITION BY patient_id ORDER BY visited_on, visit_id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean
    FROM visits)
WHERE mean > 30;

-- case: first and last values
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id,
        FIRST_VALUE(kind) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS a,
        LAST_VALUE(kind) OVER (
            PARTITION BY patient_id ORDER BY visited_on, visit_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS b
    FROM visits)
WHERE a = b;

-- case: a named window
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id, DENSE_RANK() OVER w AS d, NTILE(2) OVER (w) AS half FROM visits
    WINDOW w AS (PARTITION BY patient_id ORDER BY visited_on, visit_id))
WHERE d <= 2 AND half = 1;

-- case: partitioned by the unit and more
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (
    SELECT patient_id, kind, ROW_NUMBER() OVER (PARTITION BY kind, patient_id ORDER BY visited_on, visit_id) AS n FROM visits)
WHERE n = 1 GROUP BY kind;

-- case: partitioned by a key that determines the unit
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT visit_id, ROW_NUMBER() OVER (PARTITION BY visit_id ORDER BY dose DESC, treatment_id) AS n FROM treatments)
WHERE n = 1;

-- case: DISTINCT ON the unit
-- outcome: accepted
SELECT AVG(cost) AS first_cost FROM (SELECT DISTINCT ON (patient_id) patient_id, cost FROM visits ORDER BY visited_on, visit_id);

-- case: DISTINCT ON the unit and a column
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM (
    SELECT DISTINCT ON (patient_id, kind) patient_id, kind, cost FROM visits ORDER BY cost DESC, visit_id)
WHERE cost > 100 GROUP BY kind;

-- case: a window over grouped rows
-- outcome: accepted
SELECT kind, COUNT(*) AS favourite FROM (
    SELECT patient_id, kind FROM visits GROUP BY patient_id, kind
    QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY COUNT(*) DESC, kind) = 1)
GROUP BY kind;

-- case: percentiles of a row's place
-- outcome: accepted
SELECT AVG(p) AS p, AVG(c) AS c FROM (
    SELECT patient_id, PERCENT_RANK() OVER (PARTITION BY patient_id ORDER BY cost) AS p,
        CUME_DIST() OVER (PARTITION BY patient_id ORDER BY cost) AS c FROM visits);

-- case: NULLs left out
-- outcome: accepted
SELECT COUNT(x) AS n FROM (
    SELECT patient_id, LAG(cost IGNORE NULLS) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS x FROM visits);

-- case: a filtered sum in a window
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT patient_id, SUM(minutes) FILTER (WHERE urgent) OVER (PARTITION BY patient_id) AS m FROM visits) WHERE m > 50;

-- case: medians and conditions per unit
-- outcome: accepted
SELECT AVG(m) AS median, COUNT_IF(a) AS always, COUNT_IF(o) AS ever FROM (
    SELECT patient_id, MEDIAN(minutes) AS m, BOOL_AND(urgent) AS a, BOOL_OR(urgent) AS o FROM visits GROUP BY patient_id);

-- case: how many kinds each has
-- outcome: accepted
SELECT AVG(kinds) AS kinds, SUM(total) AS total FROM (
    SELECT patient_id, COUNT(DISTINCT kind) AS kinds, SUM(DISTINCT minutes) AS total FROM visits GROUP BY patient_id);

-- case: the two longest visits of each
-- outcome: accepted
SELECT SUM(minutes) AS minutes FROM (
    SELECT patient_id, minutes, NTH_VALUE(minutes, 2) OVER (PARTITION BY patient_id ORDER BY minutes DESC) AS second,
        LEAD(minutes, 2) OVER (PARTITION BY patient_id ORDER BY minutes DESC) AS third FROM visits)
WHERE third IS NOT NULL;

-- case: QUALIFY drops rows after the select list has looked at them
-- outcome: accepted
SELECT SUM(c) AS c, COUNT(*) AS n FROM (
    SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_id) AS c FROM visits QUALIFY c = 2);

-- case: QUALIFY over the groups of a unit, by an alias
-- outcome: accepted
SELECT SUM(n) AS n, SUM(r) AS r FROM (
    SELECT patient_id, kind, COUNT(*) AS n, RANK() OVER (PARTITION BY patient_id ORDER BY COUNT(*) DESC, kind) AS r
    FROM visits GROUP BY patient_id, kind QUALIFY r = 2);

-- case: HAVING and QUALIFY of one unit's groups
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(n) AS s FROM (
    SELECT patient_id AS p, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY kind) AS r
    FROM visits GROUP BY p, kind HAVING n > 1 QUALIFY r > 1);

-- case: DISTINCT ON in the order of an alias that a column has too
-- outcome: accepted
SELECT SUM(minutes) AS s FROM (
    SELECT DISTINCT ON (patient_id) patient_id, 480 - minutes AS minutes FROM visits ORDER BY patient_id, minutes);

-- case: DISTINCT ON an alias of the unit that a column has too
-- outcome: accepted
SELECT SUM(cost) AS cost FROM (SELECT DISTINCT ON (kind) patient_id AS kind, cost FROM visits ORDER BY kind, visit_id);

-- case: DISTINCT ON positions
-- outcome: accepted
SELECT SUM(n) AS n, SUM(cost) AS cost FROM (
    SELECT DISTINCT ON (1, 2) patient_id, kind, 1 AS n, cost FROM visits ORDER BY patient_id, 4);

-- case: a filter that bounds a window's sum
-- outcome: accepted
SELECT kind, AVG(total) AS mean_total
FROM (SELECT kind, SUM(minutes) FILTER (WHERE minutes < 45) OVER (PARTITION BY patient_id) AS total FROM visits)
GROUP BY kind;
