-- Sums and counts of a unit's groups share the rows of the unit: together they are no larger than one sum of all.

-- case: a sum of a unit and a day, by month
-- outcome: accepted
SELECT date_trunc('month', visited_on) AS month, SUM(spent) AS cost
FROM (SELECT patient_id, visited_on, SUM(minutes) AS spent FROM visits GROUP BY patient_id, visited_on) GROUP BY month;

-- case: all together
-- outcome: accepted
SELECT SUM(spent) AS minutes FROM (SELECT patient_id, kind, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind);

-- case: a count of a unit and a kind, by kind
-- outcome: accepted
SELECT kind, SUM(n) AS visits, COUNT(*) AS people
FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY patient_id, kind) GROUP BY kind;

-- case: after a filter, in another unit of time, beside a public table
-- outcome: accepted
SELECT w.floor, SUM(hours) AS hours FROM (
    SELECT p.ward, s.spent * 0.25 AS hours
    FROM (SELECT patient_id, kind, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind HAVING COUNT(*) > 1) s
    JOIN patients p USING (patient_id)
) x JOIN wards w ON w.ward = x.ward GROUP BY w.floor;

-- case: of a sum of sums
-- outcome: accepted
SELECT SUM(m) AS minutes FROM (
    SELECT patient_id, kind, SUM(spent::BIGINT) AS m FROM (
        SELECT patient_id, kind, urgent, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind, urgent
    ) GROUP BY patient_id, kind
);

-- case: with one added to each
-- outcome: accepted
SELECT SUM(spent + 1) AS minutes FROM (SELECT patient_id, kind, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind);

-- case: taken from much
-- outcome: accepted
SELECT SUM(5000 - spent) AS minutes FROM (SELECT patient_id, kind, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind);

-- case: repeated by a join with the rows
-- outcome: accepted
SELECT SUM(s.spent) AS minutes
FROM (SELECT patient_id, kind, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind) s JOIN visits v USING (patient_id);

-- case: a running sum
-- outcome: accepted
SELECT SUM(so_far) AS minutes FROM (
    SELECT SUM(spent::BIGINT) OVER (PARTITION BY patient_id ORDER BY kind) AS so_far
    FROM (SELECT patient_id, kind, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind)
);

-- case: in grouping sets, each with a sum of its own
-- outcome: accepted
SELECT kind, SUM(spent) AS minutes
FROM (SELECT patient_id, kind, urgent, SUM(minutes) AS spent FROM visits GROUP BY ALL) GROUP BY ROLLUP (kind);

-- case: under conditions that exclude each other
-- outcome: accepted
SELECT SUM(spent) FILTER (WHERE n > 1) AS often, SUM(spent) FILTER (WHERE n <= 1) AS once
FROM (SELECT patient_id, kind, COUNT(*) AS n, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind);

-- case: with Laplace noise
-- outcome: accepted
-- policy: pure.toml
SELECT kind, SUM(spent) AS cost FROM (SELECT patient_id, kind, SUM(cost) AS spent FROM visits GROUP BY patient_id, kind) GROUP BY kind;

-- case: an average of sums
-- outcome: accepted
SELECT AVG(spent) AS mean, COUNT(*) AS n, SUM(spent) AS minutes
FROM (SELECT patient_id, kind, SUM(minutes) AS spent FROM visits GROUP BY patient_id, kind);

-- case: an average of counts, by group, under a condition
-- outcome: accepted
SELECT kind, AVG(n) AS mean, AVG(n) FILTER (WHERE n > 1) AS often
FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY patient_id, kind) GROUP BY kind;

-- case: of sums that may be NULL, by a private key
-- outcome: accepted
SELECT city, AVG(spent) AS mean FROM (
    SELECT p.patient_id, p.city, v.kind, SUM(v.minutes) AS spent FROM visits v JOIN patients p USING (patient_id) GROUP BY ALL
) GROUP BY city;
