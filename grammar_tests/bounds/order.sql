-- Differences of values in a known order are never negative: their range begins at 0, and so does the clamp.

-- case: of extremes of the same rows
-- outcome: accepted
SELECT AVG(last - first) AS spread, SUM(last - first) AS total FROM (
    SELECT patient_id, MAX(minutes) AS last, MIN(minutes) AS first FROM visits GROUP BY patient_id
);

-- case: of days and moments, as they are and as numbers
-- outcome: accepted
SELECT AVG(days) AS days, AVG(epoch(lasted)) AS seconds, AVG(hours) AS hours, AVG(years) AS years FROM (
    SELECT patient_id, kind, MAX(visited_on) - MIN(visited_on) AS days, MAX(seen_at) - MIN(seen_at) AS lasted,
        date_diff('hour', MIN(seen_at), MAX(seen_at)) AS hours, year(MAX(visited_on)) - year(MIN(visited_on)) AS years
    FROM visits GROUP BY patient_id, kind
);

-- case: of extremes under different conditions nothing is known
-- outcome: accepted
SELECT AVG(a - b) AS mean FROM (
    SELECT patient_id, MAX(minutes) FILTER (WHERE urgent) AS a, MIN(minutes) FILTER (WHERE NOT urgent) AS b
    FROM visits GROUP BY patient_id
);

-- case: of extremes of different values nothing is known
-- outcome: accepted
SELECT AVG(a - b) AS mean FROM (
    SELECT patient_id, MAX(minutes) AS a, MIN(cost) AS b FROM visits GROUP BY patient_id
);

-- case: of extremes in two halves of the same rows nothing is known
-- outcome: accepted
WITH spans AS (SELECT patient_id, kind, MAX(minutes) AS a, MIN(minutes) AS b FROM visits GROUP BY patient_id, kind)
SELECT AVG(x.a - y.b) AS mean FROM spans x JOIN spans y ON x.patient_id = y.patient_id AND x.kind < y.kind;

-- case: of floats, where some are no numbers
-- outcome: accepted
SELECT AVG(a - b) AS mean FROM (SELECT patient_id, MAX(cost) AS a, MIN(cost) AS b FROM visits GROUP BY patient_id);

-- case: from one row to the next
-- outcome: accepted
SELECT AVG(visited_on - before) AS days, AVG(after - visited_on) AS later FROM (
    SELECT visited_on, LAG(visited_on) OVER w AS before, LEAD(visited_on, 2) OVER w AS after
    FROM visits WINDOW w AS (PARTITION BY patient_id ORDER BY visited_on)
);

-- case: from one row to the next, as moments and as numbers
-- outcome: accepted
SELECT AVG(epoch(gap)) AS seconds, AVG(days) AS days FROM (
    SELECT seen_at - LAG(seen_at) OVER w AS gap, date_diff('day', LAG(seen_at) OVER w, seen_at) AS days
    FROM visits WINDOW w AS (PARTITION BY patient_id, kind ORDER BY seen_at NULLS FIRST, cost)
);

-- case: in descending order
-- outcome: accepted
SELECT AVG(less) AS less, AVG(more) AS more FROM (
    SELECT LAG(minutes) OVER w - minutes AS less, minutes - LAG(minutes) OVER w AS more
    FROM visits WINDOW w AS (PARTITION BY patient_id ORDER BY minutes DESC)
);

-- case: in the order of another value nothing is known
-- outcome: accepted
SELECT AVG(more) AS mean FROM (
    SELECT minutes - LAG(minutes) OVER (PARTITION BY patient_id ORDER BY seen_at) AS more FROM visits
);

-- case: of a row and the extremes of its frame
-- outcome: accepted
SELECT AVG(below) AS below, AVG(above) AS above, AVG(spread) AS spread FROM (
    SELECT MAX(minutes) OVER w - minutes AS below, minutes - MIN(minutes) OVER w AS above, MAX(minutes) OVER w - MIN(minutes) OVER w AS spread
    FROM visits WINDOW w AS (PARTITION BY patient_id ORDER BY seen_at ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
);

-- case: a frame without the row
-- outcome: accepted
SELECT AVG(more) AS mean FROM (
    SELECT MAX(minutes) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) - minutes AS more FROM visits
);

-- case: of columns that a condition compares
-- outcome: accepted
SELECT AVG(b.visited_on - a.visited_on) AS days FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND b.visited_on > a.visited_on;

-- case: of columns that a branch, a filter or a negation compares
-- outcome: accepted
SELECT AVG(CASE WHEN v.cost >= r.cost THEN v.cost - r.cost END) AS more, AVG(v.cost - r.cost) FILTER (WHERE NOT v.cost < r.cost) AS same,
    AVG(v.cost - r.cost) AS mean
FROM visits v JOIN visits r USING (patient_id);

-- case: of columns that an outer join compares
-- outcome: accepted
SELECT AVG(b.minutes - a.minutes) AS longer, AVG(a.minutes - 5) AS mean
FROM visits a LEFT JOIN visits b ON a.patient_id = b.patient_id AND b.minutes >= a.minutes AND a.place_id <= a.minutes;

-- case: of columns that one of two conditions compares nothing is known
-- outcome: accepted
SELECT AVG(b.minutes - a.minutes) AS mean FROM visits a JOIN visits b USING (patient_id) WHERE b.minutes > a.minutes OR a.urgent;

-- case: with Laplace noise, by group
-- outcome: accepted
-- policy: pure.toml
SELECT kind, SUM(last - first) AS total FROM (
    SELECT patient_id, kind, MAX(cost) AS last, MIN(cost) AS first FROM visits GROUP BY patient_id, kind
) GROUP BY kind;
