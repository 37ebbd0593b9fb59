-- Days and moments of a series, joined with private rows: public keys, each of which a row meets once.

-- case: a series of moments, and a day
-- outcome: accepted
SELECT d.day, COUNT(*) AS n FROM generate_series(DATE '2022-01-01', DATE '2022-01-31', INTERVAL 1 DAY) AS d(day)
JOIN visits v ON v.visited_on = d.day GROUP BY d.day;

-- case: a series cut to days
-- outcome: accepted
SELECT d.day::DATE AS day, COUNT(DISTINCT v.patient_id) AS people
FROM generate_series(TIMESTAMP '2022-01-01', TIMESTAMP '2022-01-31', INTERVAL 1 DAY) AS d(day)
JOIN visits v ON v.visited_on = d.day GROUP BY 1;

-- case: a series of months, and a month
-- outcome: accepted
SELECT d.month, SUM(v.cost) AS cost FROM generate_series(TIMESTAMP '2022-01-01', TIMESTAMP '2022-12-01', INTERVAL 1 MONTH) AS d(month)
JOIN visits v ON date_trunc('month', v.seen_at) = d.month GROUP BY d.month;

-- case: days of a series, and a week before each
-- outcome: accepted
SELECT d.day, COUNT(DISTINCT v.patient_id) AS people
FROM (SELECT day::DATE AS day FROM generate_series(DATE '2022-01-01', DATE '2022-01-28', INTERVAL 1 DAY) AS s(day)) d
JOIN visits v ON v.visited_on BETWEEN d.day - 6 AND d.day GROUP BY d.day;

-- case: persons of one row
-- outcome: accepted
SELECT d.day, COUNT(*) AS n FROM generate_series(DATE '1980-01-01', DATE '1980-12-31', INTERVAL 1 DAY) AS d(day)
JOIN patients p ON p.born = d.day GROUP BY d.day;
