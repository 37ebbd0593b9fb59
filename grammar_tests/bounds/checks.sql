-- The policy declares that nobody leaves before arriving, which nothing verifies: rows that do are clamped.

-- case: of columns that a check compares
-- outcome: accepted
SELECT AVG(epoch(left_at - arrived_at)) AS seconds, AVG(epoch(left_at) - epoch(arrived_at)) AS same, AVG(date_diff('hour', arrived_at, left_at)) AS hours
FROM journeys;

-- case: a local clock goes back
-- outcome: accepted
SELECT AVG(epoch((left_at AT TIME ZONE 'Europe/Oslo') - (arrived_at AT TIME ZONE 'Europe/Oslo'))) AS seconds FROM journeys;

-- case: days and weeks of a local calendar
-- outcome: accepted
SELECT AVG(date_diff('day', arrived_at, left_at)) AS days, AVG(left_at::DATE - arrived_at::DATE) AS nights FROM journeys;

-- case: the later from the earlier one
-- outcome: accepted
SELECT SUM(epoch(arrived_at - left_at) / 3600) AS hours FROM journeys;

-- case: by the unit, under a condition that narrows one of them
-- outcome: accepted
SELECT AVG(longest) AS mean FROM (
    SELECT patient_id, MAX(epoch(left_at) - epoch(arrived_at)) AS longest FROM journeys WHERE arrived_at >= '2023-06-01' GROUP BY patient_id
);
