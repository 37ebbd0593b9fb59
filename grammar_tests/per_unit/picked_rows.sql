-- One of a unit's rows, by an aggregate with an order: FIRST, LAST, ANY_VALUE, ARG_MIN, ARG_MAX, MODE.

-- case: the kind of the dearest visit
-- outcome: accepted
SELECT dearest, COUNT(*) AS patients
FROM (SELECT patient_id, ARG_MAX(kind, cost) AS dearest FROM visits GROUP BY patient_id)
GROUP BY dearest;

-- case: the cost of the first visit and of the last one
-- outcome: accepted
SELECT AVG(first_cost) AS first_cost, AVG(last_cost) AS last_cost
FROM (
    SELECT patient_id, ARG_MIN(cost, visited_on) AS first_cost, MAX_BY(cost, visited_on) AS last_cost
    FROM visits WHERE cost IS NOT NULL AND visited_on IS NOT NULL GROUP BY patient_id
);

-- case: the first and the last value in an order
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE a = b) AS same, COUNT(*) FILTER (WHERE b = 'surgery') AS operated
FROM (
    SELECT patient_id, FIRST(kind ORDER BY visited_on, visit_id) AS a, LAST(kind ORDER BY visited_on, visit_id) AS b
    FROM visits GROUP BY patient_id
);

-- case: NULL is a first value
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE a IS NULL) AS a, COUNT(*) FILTER (WHERE b IS NULL) AS b, COUNT(c) AS c
FROM (
    SELECT patient_id, FIRST(cost ORDER BY cost NULLS FIRST) AS a, LAST(urgent ORDER BY cost DESC NULLS LAST, visit_id) AS b,
        ARBITRARY(cost ORDER BY visit_id DESC) AS c
    FROM visits GROUP BY patient_id
);

-- case: the first value that is not NULL
-- outcome: accepted
SELECT SUM(minutes) AS minutes
FROM (SELECT patient_id, ANY_VALUE(minutes ORDER BY urgent, visit_id) AS minutes FROM visits GROUP BY patient_id);

-- case: any value of a column that the unit determines
-- outcome: accepted
SELECT ward, city, AVG(n) AS visits
FROM (
    SELECT p.patient_id, ANY_VALUE(p.ward) AS ward, ARBITRARY(p.city) AS city, COUNT(*) AS n
    FROM patients p JOIN visits v USING (patient_id) GROUP BY p.patient_id
)
GROUP BY ward, city;

-- case: rows without a value, and rows without an order
-- outcome: accepted
SELECT COUNT(a) AS a, COUNT(b) AS b, COUNT(c) AS c, SUM(a) AS sum_a, SUM(b) AS sum_b, SUM(c) AS sum_c
FROM (
    SELECT patient_id, ARG_MIN(cost, steps) AS a, ARG_MIN_NULL(cost, steps) AS b, ARG_MIN_NULLS_LAST(cost, steps) AS c
    FROM (SELECT patient_id, CASE WHEN urgent THEN cost END AS cost, NULLIF(visit_id % 50, 3) * 10000 + visit_id AS steps FROM visits)
    GROUP BY patient_id
);

-- case: the same from the greatest
-- outcome: accepted
SELECT COUNT(a) AS a, COUNT(b) AS b, COUNT(c) AS c, SUM(a) AS sum_a, SUM(b) AS sum_b, SUM(c) AS sum_c
FROM (
    SELECT patient_id, ARG_MAX(cost, steps) AS a, ARG_MAX_NULL(cost, steps) AS b, ARG_MAX_NULLS_LAST(cost, steps) AS c
    FROM (SELECT patient_id, CASE WHEN urgent THEN cost END AS cost, NULLIF(visit_id % 50, 3) * 10000 + visit_id AS steps FROM visits)
    GROUP BY patient_id
);

-- case: of tied rows the least value, of tied counts too
-- outcome: accepted
-- plain: SELECT SUM(a) AS a, SUM(b) AS b, SUM(c) AS c, SUM(d) AS d FROM (SELECT patient_id, MIN(minutes) AS a, MIN(minutes) AS b, MIN(minutes) AS c, MIN(minutes) AS d FROM (SELECT DISTINCT patient_id, minutes FROM visits WHERE patient_id IS NOT NULL) GROUP BY patient_id)
SELECT SUM(a) AS a, SUM(b) AS b, SUM(c) AS c, SUM(d) AS d
FROM (
    SELECT patient_id, ARG_MAX(minutes, 1) AS a, ANY_VALUE(minutes ORDER BY NULLIF(1, 1)::INTEGER) AS b, MODE(minutes) AS c,
        ANY_VALUE(minutes) AS d
    FROM (SELECT DISTINCT patient_id, minutes FROM visits WHERE minutes IS NOT NULL) GROUP BY patient_id
);

-- case: the kind that most visits have
-- outcome: accepted
-- plain: SELECT kind, COUNT(*) AS patients FROM (SELECT patient_id, kind FROM visits WHERE patient_id IS NOT NULL GROUP BY patient_id, kind QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY COUNT(*) DESC, kind) = 1) GROUP BY kind
SELECT kind, COUNT(*) AS patients
FROM (SELECT patient_id, MODE(kind) AS kind FROM visits GROUP BY patient_id)
GROUP BY kind;

-- case: the most frequent value, the greatest of those that tie
-- outcome: accepted
-- plain: SELECT SUM(place_id) AS places FROM (SELECT patient_id, place_id FROM visits WHERE patient_id IS NOT NULL AND place_id IS NOT NULL GROUP BY patient_id, place_id QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY COUNT(*) DESC, place_id DESC) = 1)
SELECT SUM(place_id CLAMPED BETWEEN 0 AND 10) AS places
FROM (SELECT patient_id, MODE(place_id ORDER BY place_id DESC) AS place_id FROM visits GROUP BY patient_id);

-- case: conditions on the rows to pick from
-- outcome: accepted
SELECT AVG(cost) AS cost, COUNT(kind) AS kinds, COUNT(minutes) AS minutes
FROM (
    SELECT patient_id, ARG_MAX(cost, visit_id) FILTER (WHERE urgent) AS cost, FIRST(kind ORDER BY visit_id) FILTER (WHERE cost > 100) AS kind,
        MODE(minutes) FILTER (WHERE kind = 'surgery') AS minutes
    FROM visits GROUP BY patient_id
);

-- case: DISTINCT changes nothing
-- outcome: accepted
SELECT SUM(a) AS a, COUNT(b) AS b
FROM (SELECT patient_id, FIRST(DISTINCT minutes ORDER BY minutes) AS a, ARG_MIN(DISTINCT kind, visit_id) AS b FROM visits GROUP BY patient_id);

-- case: by the unit and another column
-- outcome: accepted
SELECT kind, SUM(minutes) AS minutes
FROM (SELECT patient_id, kind, ARG_MAX(minutes, visit_id) AS minutes FROM visits GROUP BY patient_id, kind)
GROUP BY kind;

-- case: in HAVING, and in an expression
-- outcome: accepted
SELECT kind, COUNT(*) AS n
FROM (SELECT patient_id, upper(ARG_MIN(kind, visit_id)) AS kind FROM visits GROUP BY patient_id HAVING ARG_MAX(cost, visit_id) > 50)
GROUP BY kind;

-- case: of a correlated subquery
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
WHERE (SELECT ARG_MIN(kind, visit_id) FROM visits v WHERE v.patient_id = p.patient_id) = 'checkup'
    AND (SELECT ANY_VALUE(cost ORDER BY visit_id) FILTER (WHERE urgent) FROM visits v WHERE v.patient_id = p.patient_id) > 10;

-- case: of a pivot by the unit
-- outcome: accepted
SELECT SUM(surgery) AS surgery, SUM(checkup) AS checkup
FROM (
    PIVOT (SELECT patient_id, visit_id, kind, minutes FROM visits) ON kind IN ('surgery', 'checkup')
    USING ARG_MAX(minutes, visit_id) GROUP BY patient_id
);

-- case: several of one table, the value in another's order
-- outcome: accepted
SELECT drug, COUNT(*) AS patients
FROM (
    SELECT v.patient_id, ARG_MAX(t.drug, t.treatment_id) AS drug, MODE(v.kind ORDER BY t.treatment_id) AS kind
    FROM treatments t JOIN visits v USING (visit_id) GROUP BY v.patient_id
)
WHERE drug IS NOT NULL GROUP BY drug;

-- case: one zero and one NaN
-- outcome: accepted
-- oracle: no-meaning (DuckDB tells -0.0 from 0.0)
SELECT x, COUNT(*) AS n
FROM (
    SELECT patient_id, ARG_MIN(minutes * CASE WHEN urgent THEN -0.0::DOUBLE ELSE 0.0::DOUBLE END, kind) AS x
    FROM visits GROUP BY patient_id
)
GROUP BY x;

-- case: constants are picked
-- outcome: accepted
SELECT SUM(a) AS a, COUNT(b) AS b, SUM(c) AS c, COUNT(d) AS d
FROM (
    SELECT patient_id, MODE(bit_count(3)) AS a, MODE(DATE '2024-01-01') AS b, FIRST(5 ORDER BY 1) AS c,
        STRING_AGG('x', ',' ORDER BY cost) AS d
    FROM visits GROUP BY patient_id
);
