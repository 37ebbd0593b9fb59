-- What a product team asks of its event log.

-- question: daily active users
-- by: day
-- target: 0.03
SELECT day, COUNT(DISTINCT user_id) AS dau FROM events GROUP BY day ORDER BY day;

-- question: weekly active users
-- by: week
-- target: 0.015
SELECT date_trunc('week', ts) AS week, COUNT(DISTINCT user_id) AS wau FROM events GROUP BY week ORDER BY week;

-- question: monthly active users
-- by: month
-- target: 0.007
SELECT date_trunc('month', ts) AS month, COUNT(DISTINCT user_id) AS mau FROM events GROUP BY month ORDER BY month;

-- question: conversion by source
-- by: source
-- target: 0.02
SELECT source,
       COUNT(DISTINCT user_id) FILTER (WHERE name = 'purchase') / COUNT(DISTINCT user_id) AS conversion
FROM events GROUP BY source ORDER BY conversion DESC;

-- question: active users in all
SELECT COUNT(DISTINCT user_id) AS users, COUNT(DISTINCT session_id) AS sessions, COUNT(*) AS events FROM events;

-- question: events by name
-- by: name
SELECT name, COUNT(*) AS events, COUNT(DISTINCT user_id) AS users FROM events GROUP BY name ORDER BY events DESC;

-- question: events by day and name
-- by: day, name
SELECT day, name, COUNT(*) AS events FROM events GROUP BY ALL ORDER BY ALL;

-- question: daily active users by country
-- by: day, country
SELECT day, country, COUNT(DISTINCT user_id) AS dau FROM events GROUP BY day, country ORDER BY day, country;

-- question: seven-day moving average of daily active users
-- by: day
WITH daily AS (SELECT day, COUNT(DISTINCT user_id) AS dau FROM events GROUP BY day)
SELECT day, AVG(dau) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS dau_7d
FROM daily ORDER BY day;

-- question: week over week growth
-- by: week
WITH weekly AS (SELECT date_trunc('week', day) AS week, COUNT(DISTINCT user_id) AS users FROM events GROUP BY 1)
SELECT week, users, users / LAG(users) OVER (ORDER BY week) - 1 AS growth FROM weekly ORDER BY week;

-- question: stickiness, daily over monthly users
WITH daily AS (SELECT day, COUNT(DISTINCT user_id) AS dau FROM events WHERE month(day) = 5 GROUP BY day)
SELECT AVG(dau) / (SELECT COUNT(DISTINCT user_id) FROM events WHERE month(day) = 5) AS stickiness FROM daily;

-- question: new and returning users by day
-- by: day, kind
SELECT e.day, CASE WHEN e.day = u.signup THEN 'new' ELSE 'returning' END AS kind, COUNT(DISTINCT e.user_id) AS users
FROM events e JOIN users u USING (user_id) GROUP BY 1, 2 ORDER BY 1, 2;

-- question: funnel of users
SELECT COUNT(DISTINCT user_id) FILTER (WHERE name = 'view') AS viewed,
       COUNT(DISTINCT user_id) FILTER (WHERE name = 'add_to_cart') AS added,
       COUNT(DISTINCT user_id) FILTER (WHERE name = 'checkout') AS checked_out,
       COUNT(DISTINCT user_id) FILTER (WHERE name = 'purchase') AS purchased
FROM events;

-- question: funnel by device with CASE
-- by: device
SELECT device,
       COUNT(DISTINCT CASE WHEN name = 'view' THEN user_id END) AS viewed,
       COUNT(DISTINCT CASE WHEN name = 'add_to_cart' THEN user_id END) AS added,
       COUNT(DISTINCT CASE WHEN name = 'purchase' THEN user_id END) AS purchased
FROM events GROUP BY device;

-- question: funnel of sessions by source
-- by: source
SELECT source, COUNT(*) AS sessions, AVG(added) AS added, AVG(purchased) AS purchased
FROM (SELECT session_id, source, MAX((name = 'add_to_cart')::INT) AS added, MAX((name = 'purchase')::INT) AS purchased
      FROM events GROUP BY session_id, source)
GROUP BY source ORDER BY source;

-- question: funnel in order of time
WITH firsts AS (
    SELECT user_id, MIN(ts) FILTER (WHERE name = 'view') AS viewed,
           MIN(ts) FILTER (WHERE name = 'add_to_cart') AS added, MIN(ts) FILTER (WHERE name = 'purchase') AS bought
    FROM events GROUP BY user_id)
SELECT COUNT(viewed) AS viewed, COUNT(*) FILTER (WHERE added > viewed) AS then_added,
       COUNT(*) FILTER (WHERE added > viewed AND bought > added) AS then_bought
FROM firsts;

-- question: purchase in the session of a search
SELECT COUNT(*) AS searched, AVG((bought > 0)::INT) AS bought FROM (
    SELECT user_id, session_id, COUNT(*) FILTER (WHERE name = 'search') AS searches,
           COUNT(*) FILTER (WHERE name = 'purchase') AS bought
    FROM events GROUP BY user_id, session_id)
WHERE searches > 0;

-- question: retention of signup weeks
-- by: cohort, week
SELECT date_trunc('week', u.signup) AS cohort, date_diff('week', u.signup, e.day) AS week,
       COUNT(DISTINCT e.user_id) AS users
FROM events e JOIN users u USING (user_id)
WHERE u.signup >= DATE '2024-04-01' GROUP BY cohort, week ORDER BY cohort, week;

-- question: retention of signup weeks as a share
-- by: cohort, week
WITH sizes AS (
    SELECT date_trunc('week', signup) AS cohort, COUNT(*) AS size FROM users WHERE signup >= '2024-04-01' GROUP BY 1),
active AS (
    SELECT date_trunc('week', u.signup) AS cohort, (e.day - u.signup) // 7 AS week, COUNT(DISTINCT e.user_id) AS users
    FROM events e JOIN users u ON e.user_id = u.user_id GROUP BY 1, 2)
SELECT cohort, week, users / size AS retained FROM active JOIN sizes USING (cohort) ORDER BY cohort, week;

-- question: retention of first weeks seen
-- by: first_week, later
WITH weeks AS (SELECT DISTINCT user_id, date_trunc('week', day) AS week FROM events),
firsts AS (SELECT user_id, week, MIN(week) OVER (PARTITION BY user_id) AS first_week FROM weeks)
SELECT first_week, date_diff('week', first_week, week) AS later, COUNT(*) AS users
FROM firsts GROUP BY 1, 2 ORDER BY 1, 2;

-- question: retention on day 7
SELECT AVG(CASE WHEN EXISTS (SELECT 1 FROM events e WHERE e.user_id = u.user_id AND e.day = u.signup + 7)
           THEN 1.0 ELSE 0 END) AS day_7
FROM users u WHERE signup BETWEEN '2024-04-01' AND '2024-05-20';

-- question: users lost from April to May
SELECT COUNT(*) AS lost FROM (SELECT user_id FROM events WHERE month(day) = 4
                              EXCEPT SELECT user_id FROM events WHERE month(day) = 5);

-- question: users by days since their last event
-- by: weeks
SELECT date_diff('day', latest, DATE '2024-05-30') // 7 AS weeks, COUNT(*) AS users
FROM (SELECT user_id, MAX(day) AS latest FROM events GROUP BY user_id) GROUP BY weeks ORDER BY weeks;

-- question: users by number of active days
-- by: days
SELECT days, COUNT(*) AS users FROM (SELECT user_id, COUNT(DISTINCT day) AS days FROM events GROUP BY user_id)
GROUP BY days ORDER BY days;

-- question: pairs of user and day
SELECT COUNT(*) AS user_days FROM (SELECT DISTINCT user_id, day FROM events);

-- question: pairs of user and page by source
-- by: source
SELECT source, COUNT(DISTINCT (user_id, url)) AS pairs FROM events GROUP BY source ORDER BY source;

-- question: events a user
SELECT COUNT(*) / COUNT(DISTINCT user_id) AS events_per_user FROM events;

-- question: average session length
SELECT AVG(date_diff('second', started, ended)) AS seconds
FROM (SELECT session_id, MIN(ts) AS started, MAX(ts) AS ended FROM events GROUP BY session_id);

-- question: average session length by device
-- by: device
SELECT device, AVG(length) AS seconds
FROM (SELECT user_id, session_id, device, epoch(MAX(ts) - MIN(ts)) AS length FROM events GROUP BY ALL)
GROUP BY device;

-- question: sessions and bounce rate by source
-- by: source
SELECT source, COUNT(*) AS sessions, COUNT(*) FILTER (WHERE n = 1) / COUNT(*) AS bounced
FROM (SELECT user_id, session_id, source, COUNT(*) AS n FROM events GROUP BY user_id, session_id, source)
GROUP BY source ORDER BY sessions DESC;

-- question: sessions by day
-- by: day
SELECT day, COUNT(DISTINCT session_id) AS sessions FROM events GROUP BY day ORDER BY day;

-- question: pages a session
SELECT COUNT(*) FILTER (WHERE name = 'view') / COUNT(DISTINCT session_id) AS pages FROM events;

-- question: days between visits
SELECT AVG(gap) AS mean_days, MEDIAN(gap) AS median_days FROM (
    SELECT day - LAG(day) OVER (PARTITION BY user_id ORDER BY day) AS gap FROM (SELECT DISTINCT user_id, day FROM events));

-- question: top pages
-- by: url
SELECT url, COUNT(*) AS views FROM events WHERE name = 'view' GROUP BY url ORDER BY views DESC LIMIT 10;

-- question: top three pages of each country
-- by: country, url
SELECT country, url, COUNT(*) AS views FROM events GROUP BY country, url
QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY COUNT(*) DESC) <= 3 ORDER BY country, views DESC;

-- question: seconds on a page, mean and spread
-- by: name
SELECT name, AVG(seconds) AS mean, STDDEV(seconds) AS deviation FROM events GROUP BY name ORDER BY name;

-- question: seconds on a page, median and ninetieth percentile
-- by: device
SELECT device, MEDIAN(seconds) AS median, QUANTILE_CONT(seconds, 0.9) AS p90 FROM events GROUP BY device;

-- question: histogram of seconds
-- by: bin
SELECT least(floor(seconds / 30) * 30, 300) AS bin, COUNT(*) AS events FROM events GROUP BY bin ORDER BY bin;

-- question: share of devices
-- by: device
SELECT COALESCE(device, 'unknown') AS device, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 2) AS percent
FROM events GROUP BY 1 ORDER BY percent DESC;

-- question: peak hours
-- by: hour
SELECT hour(ts) AS hour, COUNT(*) AS events FROM events GROUP BY hour ORDER BY events DESC LIMIT 5;

-- question: users by weekday and hour
-- by: weekday, hour
SELECT dayname(ts) AS weekday, extract(hour FROM ts) AS hour, COUNT(DISTINCT user_id) AS users
FROM events GROUP BY 1, 2 ORDER BY 1, 2;

-- question: conversion by arm
-- by: arm
SELECT u.arm, COUNT(*) AS users, AVG(CASE WHEN b.user_id IS NOT NULL THEN 1 ELSE 0 END) AS conversion
FROM users u LEFT JOIN (SELECT DISTINCT user_id FROM events WHERE name = 'purchase') b ON b.user_id = u.user_id
GROUP BY u.arm ORDER BY u.arm;

-- question: purchases a user by arm, with its standard error
-- by: arm
SELECT arm, AVG(n) AS mean, STDDEV(n) / SQRT(COUNT(*)) AS standard_error
FROM (SELECT u.user_id, u.arm, COUNT(*) FILTER (WHERE e.name = 'purchase') AS n
      FROM users u JOIN events e USING (user_id) GROUP BY u.user_id, u.arm)
GROUP BY arm ORDER BY arm;

-- question: uplift of arm B
WITH rates AS (
    SELECT arm, COUNT(DISTINCT CASE WHEN name = 'purchase' THEN user_id END) / COUNT(DISTINCT user_id) AS rate
    FROM users JOIN events USING (user_id) GROUP BY arm)
SELECT b.rate / a.rate - 1 AS uplift FROM rates a, rates b WHERE a.arm = 'A' AND b.arm = 'B';

-- question: users by plan and country with totals
-- by: plan, country
SELECT plan, country, COUNT(*) AS users FROM users GROUP BY ROLLUP (plan, country) ORDER BY ALL;

-- question: signups by week and plan
-- by: week, plan
SELECT date_trunc('week', signup) AS week, plan, COUNT(*) AS signups FROM users GROUP BY 1, 2 ORDER BY 1, 2;

-- question: purchases by first source
-- by: source
WITH firsts AS (SELECT user_id, arg_min(source, ts) AS source FROM events GROUP BY user_id)
SELECT f.source, COUNT(*) AS purchases FROM events e JOIN firsts f USING (user_id)
WHERE e.name = 'purchase' GROUP BY f.source ORDER BY f.source;

-- question: days from signup to first purchase
-- by: plan
SELECT plan, MEDIAN(days) AS median_days, AVG(days) AS mean_days FROM (
    SELECT u.user_id, u.plan, date_diff('day', u.signup, MIN(e.day)) AS days
    FROM users u JOIN events e USING (user_id) WHERE e.name = 'purchase' GROUP BY u.user_id, u.plan, u.signup)
GROUP BY plan;

-- question: power users
SELECT COUNT(*) FILTER (WHERE events >= 50) AS power_users,
       SUM(events) FILTER (WHERE events >= 50) / SUM(events) AS share_of_events
FROM (SELECT user_id, COUNT(*) AS events FROM events GROUP BY user_id);
