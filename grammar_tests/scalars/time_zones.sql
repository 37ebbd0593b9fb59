-- Times with time zone, on the clock of the policy's time zone.

-- case: months of a time with time zone
-- outcome: accepted
SELECT strftime(month, '%Y-%m') AS month, n FROM (SELECT date_trunc('month', arrived_at) AS month, COUNT(*) AS n FROM journeys GROUP BY month);

-- case: days of a time with time zone
-- outcome: accepted
SELECT arrived_at::DATE AS day, COUNT(*) AS n FROM journeys WHERE arrived_at BETWEEN '2024-01-01' AND '2024-01-31' GROUP BY day ORDER BY day;

-- case: weeks as days
-- outcome: accepted
SELECT CAST(date_trunc('week', arrived_at) AS DATE) AS week, COUNT(*) AS n FROM journeys GROUP BY week;

-- case: hours and weekdays of a time with time zone
-- outcome: accepted
SELECT dayname(arrived_at) AS weekday, COUNT(*) AS n, AVG(hour(arrived_at)) AS h, AVG(EXTRACT(minute FROM left_at)) AS m FROM journeys GROUP BY weekday;

-- case: parts of a time with time zone
-- outcome: accepted
SELECT AVG(year(arrived_at)) AS y, AVG(date_part('quarter', arrived_at)) AS q, AVG(month(arrived_at)) AS m, AVG(dayofyear(arrived_at)) AS d, AVG(week(arrived_at)) AS w, AVG(second(arrived_at)) AS s FROM journeys;

-- case: the local time, and back
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE arrived_at::TIMESTAMP = noted_at AND noted_at::TIMESTAMPTZ = arrived_at AND noted_on::TIMESTAMPTZ <= '2025-01-01';

-- case: the clocks of two cities
-- outcome: accepted
SELECT SUM(hour(arrived_at AT TIME ZONE 'Asia/Tokyo') - hour(arrived_at AT TIME ZONE 'America/New_York')) AS hours FROM journeys;

-- case: a local time of another zone is a moment
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE noted_at AT TIME ZONE 'Europe/Oslo' > TIMESTAMPTZ '2024-01-01 00:00:00+00';

-- case: texts of times with time zone
-- outcome: accepted
SELECT strftime(arrived_at, '%Y-%m') AS month, COUNT(*) AS n FROM journeys WHERE left_at < '2024-01-01' GROUP BY month;

-- case: hours between two times with time zone
-- outcome: accepted
SELECT AVG(date_diff('hour', arrived_at, left_at)) AS hours, AVG(date_diff('day', arrived_at, left_at)) AS days, AVG(date_sub('minute', arrived_at, left_at)) AS minutes FROM journeys;

-- case: seconds between two times with time zone
-- outcome: accepted
SELECT AVG(epoch(left_at - arrived_at)) AS s, AVG(EXTRACT(epoch FROM left_at - arrived_at) / 86400) AS days, AVG(epoch(left_at) - epoch(arrived_at)) AS t FROM journeys WHERE left_at < '2025-06-01';

-- case: days and hours after a time with time zone
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE arrived_at + INTERVAL 1 WEEK > left_at) AS short, COUNT(*) FILTER (WHERE left_at - INTERVAL '36 hours' > arrived_at) AS long, COUNT(*) FILTER (WHERE arrived_at + to_days(patient_id) > '2024-01-01') AS late FROM journeys;

-- case: buckets of a time with time zone
-- outcome: accepted
SELECT CAST(bucket AS DATE) AS bucket, n FROM (SELECT time_bucket(INTERVAL '3 months', arrived_at) AS bucket, COUNT(*) AS n FROM journeys GROUP BY bucket);

-- case: before and after a moment, once each
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE arrived_at < '2024-01-01') AS before, COUNT(*) FILTER (WHERE arrived_at >= '2024-01-01') AS after FROM journeys;

-- case: the first, the last and the middle time with time zone
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT year(first) AS first, last::DATE AS last, epoch(middle) AS middle FROM (SELECT MIN(arrived_at) AS first, MAX(arrived_at) AS last, MEDIAN(arrived_at) AS middle FROM journeys);

-- case: the first arrival of each patient
-- outcome: accepted
SELECT year(first) AS y, COUNT(*) AS n FROM (SELECT patient_id, MIN(arrived_at) AS first FROM journeys GROUP BY patient_id) GROUP BY y;

-- case: the later of two times
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE GREATEST(arrived_at, noted_at) >= COALESCE(arrived_at, noted_on);
