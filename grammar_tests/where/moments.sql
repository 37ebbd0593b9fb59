-- Days, moments and spans of time as people write them.

-- case: a day for a time with time zone
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE arrived_at >= '2024-01-01' AND left_at < DATE '2024-09-01';

-- case: a moment without seconds
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE seen_at >= '2022-07-14 09:30' AND seen_at < TIMESTAMP '2024-01-01';

-- case: a moment of one digit
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE arrived_at >= '2023-7-14 6:30' AND noted_at <> '2023-07-14T6:30:0';

-- case: days that a time lies between
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE arrived_at BETWEEN '2023-03-01' AND '2024-03-31' AND noted_at BETWEEN '2023-01-01' AND '2024-01-31';

-- case: a moment as a DATE
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE visited_on >= '2022-07-14 09:30:00' AND visited_on <> DATE '2023-01-01';

-- case: constants with time zone
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE arrived_at > TIMESTAMPTZ '2023-06-01' AND arrived_at < '2024-06-01 12:00+02' AND left_at > CAST('2023-01-01' AS TIMESTAMPTZ);

-- case: one day of a list of days
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE date_trunc('day', arrived_at) IN ('2023-01-01', '2023-02-07', DATE '2023-06-03') OR arrived_at = DATE '2024-01-01';

-- case: a time with time zone and a time without
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE arrived_at >= noted_at AND left_at > noted_on;

-- case: longer than three days
-- outcome: accepted
SELECT COUNT(*) AS n FROM journeys WHERE left_at - arrived_at > INTERVAL 3 DAY;

-- case: a span between two spans
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits JOIN patients USING (patient_id) WHERE seen_at - registered BETWEEN INTERVAL '30 days' AND INTERVAL '1 year' OR seen_at - registered = INTERVAL '0' DAY;

-- case: shares of short and long spans
-- outcome: accepted
SELECT AVG(CASE WHEN left_at - arrived_at <= INTERVAL '48' HOUR THEN 1 ELSE 0 END) AS short FROM journeys;

-- case: a span of a subquery
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id, left_at - arrived_at AS stay FROM journeys) WHERE stay >= INTERVAL 1 WEEK AND stay IS NOT NULL;

-- case: the days since a moment
-- outcome: accepted
SELECT AVG(date_diff('day', arrived_at, '2025-01-01')) AS days, AVG(date_diff('week', noted_at, TIMESTAMP '2025-01-01')) AS weeks FROM journeys;

-- case: days since a month before a day
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE visited_on >= DATE '2023-03-31' - INTERVAL '1' MONTH AND visited_on < DATE '2023-03-31' + INTERVAL 40 DAY;

-- case: a day between a day and a midnight, or after a moment of a day
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE visited_on BETWEEN DATE '2022-12-01' + INTERVAL 1 MONTH AND TIMESTAMP '2023-06-30 00:00:00' OR visited_on > DATE '2023-12-31' + INTERVAL 12 HOUR OR visited_on IN (TIMESTAMP '2022-07-14 00:00:00', DATE '2022-07-01' + INTERVAL 2 WEEK);
