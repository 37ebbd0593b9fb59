-- Dates and times.

-- case: parts of a date
-- outcome: accepted
SELECT AVG(EXTRACT(year FROM born)) AS mean_year, AVG(month(born)) AS mean_month FROM patients;

-- case: parts of a timestamp
-- outcome: accepted
SELECT AVG(hour(seen_at)) AS mean_hour, SUM(date_part('minute', seen_at)) AS minutes FROM visits;

-- case: days between two columns
-- outcome: accepted
SELECT AVG(date_diff('day', v.visited_on, t.given_on)) AS mean_wait FROM visits v JOIN treatments t USING (visit_id);

-- case: a difference of two dates
-- outcome: accepted
SELECT SUM(given_on - DATE '2022-01-01') AS days FROM treatments;

-- case: years up to a fixed day
-- outcome: accepted
SELECT AVG(date_diff('year', born, DATE '2024-06-30')) AS mean_age FROM patients;

-- case: a date moved by an interval
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE visited_on + INTERVAL 30 DAY > DATE '2023-01-01' AND seen_at - INTERVAL '2 hours' < '2024-01-01';

-- case: a date moved by whole days
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v JOIN treatments t USING (visit_id) WHERE t.given_on = v.visited_on + 1;

-- case: a timestamp cut to its day
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE seen_at::DATE = visited_on AND CAST(visited_on AS TIMESTAMP) <= seen_at;

-- case: cut to the quarter
-- outcome: accepted
SELECT date_trunc('quarter', visited_on) AS quarter, SUM(cost) AS cost FROM visits GROUP BY quarter;

-- case: a month in words
-- outcome: accepted
SELECT strftime(visited_on, '%Y-%m') AS month, COUNT(*) AS n FROM visits GROUP BY month;

-- case: the format first
-- outcome: accepted
SELECT strftime('%Y', visited_on) AS year, COUNT(*) AS n FROM visits GROUP BY year;

-- case: a date from a text
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE visited_on > '2023-02-01' OR visited_on = CAST('2022-02-22' AS DATE);

-- case: between two days
-- outcome: accepted
SELECT SUM(minutes) AS minutes FROM visits WHERE visited_on BETWEEN '2022-03-01' AND DATE '2022-03-01' + INTERVAL 1 YEAR;

-- case: the same day of the week
-- outcome: accepted
SELECT dayname(visited_on) AS day, isodow(visited_on) IN (6, 7) AS weekend, COUNT(*) AS n FROM visits GROUP BY ALL;
