-- Aliases of the select list that later items of it use, as DuckDB allows.

-- case: a computed column, and one of it
-- outcome: accepted
SELECT AVG(more) AS mean, SUM(double) AS total FROM (SELECT cost * 2 AS double, double + 1 AS more FROM visits) AS v;

-- case: in WHERE too, whatever the order
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT age // 10 AS decade, decade % 2 AS even FROM patients WHERE even = 0) AS p;

-- case: a column of that name goes first
-- outcome: accepted
SELECT AVG(years) AS mean FROM (SELECT children AS age, age + 1 AS years FROM patients) AS p;

-- case: a qualified name is a column
-- outcome: accepted
SELECT SUM(more) AS total FROM (SELECT p.children + 1 AS c, p.children * c AS more FROM patients p) AS p;

-- case: the last of two aliases
-- outcome: accepted
SELECT SUM(more) AS total FROM (SELECT age AS x, children AS x, x * 2 AS more FROM patients) AS p;

-- case: keys of groups
-- outcome: accepted
SELECT lower(sex) AS s, s || '-' || ward AS both, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: an aggregate of an alias
-- outcome: accepted
SELECT ward AS w, children + 1 AS size, AVG(age) AS mean, COUNT(DISTINCT w) AS wards FROM patients GROUP BY w, size;

-- case: an aggregate, and one that is computed of it
-- outcome: accepted
SELECT sex, AVG(age) AS mean, mean / 2 AS half, half + 1 AS more FROM patients GROUP BY sex;

-- case: sums of a person, and what is computed of them
-- outcome: accepted
SELECT AVG(more) AS mean, SUM(total) AS total FROM (
    SELECT patient_id, SUM(minutes) AS total, AVG(minutes) AS mean, mean + 1 AS more FROM visits GROUP BY patient_id HAVING more > 10
) AS p;

-- case: a window of a person
-- outcome: accepted
SELECT SUM(late) AS late FROM (
    SELECT row_number() OVER (PARTITION BY patient_id ORDER BY seen_at, visit_id) AS place, CAST(place > 1 AS INTEGER) AS late
    FROM visits
) AS v;

-- case: a heading of what has no alias
-- outcome: accepted
SELECT SUM("(x * 2)") AS total FROM (SELECT children AS x, x * 2 FROM patients) AS p;
