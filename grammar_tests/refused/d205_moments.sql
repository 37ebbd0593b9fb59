-- D205: a day, a moment or a span that is not read as one.

-- case: a text that is no moment
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM journeys WHERE arrived_at > '2024-01-31'
SELECT COUNT(*) FROM journeys WHERE arrived_at > 'last monday';

-- case: a month that does not exist
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM journeys WHERE arrived_at < '2024-12-01 10:30'
SELECT COUNT(*) FROM journeys WHERE arrived_at < '2024-13-01 10:30';

-- case: an offset for a time without time zone
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM journeys WHERE noted_at < '2024-01-31 10:30'
SELECT COUNT(*) FROM journeys WHERE noted_at < '2024-01-31 10:30+02';

-- case: the time of day of a time with time zone
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM journeys WHERE CAST(CAST(arrived_at AS TIMESTAMP) AS TIME) > '12:00:00'
SELECT COUNT(*) FROM journeys WHERE CAST(arrived_at AS TIME) > '12:00:00';

-- case: the text of a time with time zone
-- outcome: refused D205 at 1:8
-- instead: SELECT CAST(CAST(arrived_at AS TIMESTAMP) AS VARCHAR) AS t, COUNT(*) FROM journeys GROUP BY t
SELECT CAST(arrived_at AS VARCHAR) AS t, COUNT(*) FROM journeys GROUP BY t;

-- case: a span of several units after a time with time zone
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM journeys WHERE arrived_at::TIMESTAMP + (left_at - arrived_at) > '2024-01-01'
SELECT COUNT(*) FROM journeys WHERE arrived_at + (left_at - arrived_at) > '2024-01-01';

-- case: buckets with time zone from a day
-- outcome: refused D205 at 1:8
-- instead: SELECT time_bucket(INTERVAL '1' WEEK, arrived_at::DATE, DATE '2024-01-02') AS b, COUNT(*) FROM journeys GROUP BY b
SELECT time_bucket(INTERVAL '1' WEEK, arrived_at, DATE '2024-01-02') AS b, COUNT(*) FROM journeys GROUP BY b;

-- case: a span compared with a number
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM journeys WHERE left_at - arrived_at > INTERVAL 3 DAY
SELECT COUNT(*) FROM journeys WHERE left_at - arrived_at > 3;

-- case: the mean of a span
-- outcome: refused D205
-- instead: SELECT AVG(epoch(left_at - arrived_at)) FROM journeys
SELECT AVG(left_at - arrived_at) FROM journeys;

-- case: the median of a span
-- outcome: refused D205 at 1:15
-- instead: SELECT MEDIAN(epoch(left_at - arrived_at)) FROM journeys
SELECT MEDIAN(left_at - arrived_at) FROM journeys;

-- case: the extremes of a span
-- outcome: refused D205 at 1:12
-- instead: SELECT MAX(epoch(left_at - arrived_at)) FROM journeys
SELECT MAX(left_at - arrived_at) FROM journeys;

-- case: AT TIME ZONE of a DATE
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM journeys WHERE noted_on::TIMESTAMP AT TIME ZONE 'Europe/Oslo' > arrived_at
SELECT COUNT(*) FROM journeys WHERE noted_on AT TIME ZONE 'Europe/Oslo' > arrived_at;
