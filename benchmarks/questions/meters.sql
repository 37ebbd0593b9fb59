-- What a grid operator asks of its meters.

-- question: kwh by day
-- by: day
SELECT ts::DATE AS day, SUM(kwh) AS kwh FROM readings GROUP BY day ORDER BY day;

-- question: kwh by day through a subquery
-- by: day
-- beside: kwh by day
-- target: 1.2
SELECT day, SUM(kwh) AS kwh
FROM (SELECT household_id, ts::DATE AS day, SUM(kwh) AS kwh FROM readings GROUP BY household_id, day)
GROUP BY day ORDER BY day;

-- question: kwh of a household by day
-- by: day
SELECT day, AVG(kwh) AS kwh
FROM (SELECT household_id, CAST(ts AS DATE) AS day, SUM(kwh) AS kwh FROM readings GROUP BY 1, 2)
GROUP BY day ORDER BY day;

-- question: kwh by day and region
-- by: day, region
SELECT date_trunc('day', r.ts) AS day, h.region, SUM(r.kwh) AS kwh
FROM readings r JOIN households h USING (household_id) GROUP BY 1, 2 ORDER BY 1, 2;

-- question: kwh of a household by day and region
-- by: day, region
WITH daily AS (
    SELECT h.household_id, h.region, date_trunc('day', r.ts) AS day, SUM(r.kwh) AS kwh
    FROM readings r JOIN households h ON h.household_id = r.household_id GROUP BY ALL)
SELECT day, region, AVG(kwh) AS kwh FROM daily GROUP BY day, region ORDER BY day, region;

-- question: kwh of a household a day, in all
SELECT AVG(kwh) AS kwh FROM (SELECT household_id, ts::DATE AS day, SUM(kwh) AS kwh FROM readings GROUP BY 1, 2);

-- question: load profile
-- by: hour
SELECT hour(ts) AS hour, AVG(kwh) AS kwh FROM readings GROUP BY hour ORDER BY hour;

-- question: load profile of workdays and weekends
-- by: weekend, hour
SELECT isodow(ts) > 5 AS weekend, hour(ts) AS hour, AVG(kwh) AS kwh FROM readings GROUP BY weekend, hour ORDER BY weekend, hour;

-- question: load profile by tariff
-- by: tariff, hour
SELECT h.tariff, extract(hour FROM r.ts) AS hour, AVG(r.kwh) AS kwh
FROM readings r JOIN households h USING (household_id) GROUP BY 1, 2 ORDER BY 1, 2;

-- question: peak hours of the load
-- by: hour
SELECT hour(ts) AS hour, SUM(kwh) AS kwh FROM readings GROUP BY hour ORDER BY kwh DESC LIMIT 3;

-- question: kwh of each hour
-- by: ts
SELECT ts, SUM(kwh) AS kwh FROM readings GROUP BY ts ORDER BY ts;

-- question: peak load of each region
-- by: region
SELECT region, MAX(kwh) AS peak, AVG(kwh) / MAX(kwh) AS load_factor
FROM (SELECT h.region, r.ts, SUM(r.kwh) AS kwh FROM readings r JOIN households h USING (household_id) GROUP BY 1, 2)
GROUP BY region ORDER BY region;

-- question: peak of a household, by tariff
-- by: tariff
SELECT tariff, AVG(peak) AS peak
FROM (SELECT household_id, MAX(kwh) AS peak FROM readings GROUP BY household_id) JOIN households USING (household_id)
GROUP BY tariff ORDER BY tariff;

-- question: standby power
SELECT MEDIAN(low) AS standby FROM (SELECT household_id, MIN(kwh) AS low FROM readings GROUP BY household_id);

-- question: load factor of households
SELECT AVG(mean / peak) AS load_factor
FROM (SELECT household_id, AVG(kwh) AS mean, MAX(kwh) AS peak FROM readings GROUP BY household_id);

-- question: share of regions
-- by: region
SELECT h.region, SUM(r.kwh) AS kwh, SUM(r.kwh) / SUM(SUM(r.kwh)) OVER () AS share
FROM readings r JOIN households h USING (household_id) GROUP BY h.region ORDER BY share DESC;

-- question: regions ranked by kwh of a household
-- by: region
WITH totals AS (
    SELECT h.region, SUM(r.kwh) / COUNT(DISTINCT h.household_id) AS kwh
    FROM households h JOIN readings r USING (household_id) GROUP BY h.region)
SELECT region, kwh, RANK() OVER (ORDER BY kwh DESC) AS place FROM totals ORDER BY place;

-- question: kwh by region and tariff with totals
-- by: region, tariff
SELECT region, tariff, SUM(kwh) AS kwh FROM readings JOIN households USING (household_id)
GROUP BY ROLLUP (region, tariff) ORDER BY ALL;

-- question: night share by tariff
-- by: tariff
SELECT h.tariff, SUM(r.kwh) FILTER (WHERE hour(r.ts) < 6) / SUM(r.kwh) AS night
FROM readings r JOIN households h USING (household_id) GROUP BY h.tariff ORDER BY h.tariff;

-- question: daily kwh, median and 95th percentile
SELECT MEDIAN(kwh) AS median, QUANTILE_CONT(kwh, 0.95) AS p95
FROM (SELECT household_id, ts::DATE AS day, SUM(kwh) AS kwh FROM readings GROUP BY household_id, ts::DATE);

-- question: deciles of four weeks
SELECT QUANTILE_CONT(kwh, [0.1, 0.5, 0.9]) AS deciles FROM (SELECT household_id, SUM(kwh) AS kwh FROM readings GROUP BY 1);

-- question: histogram of daily kwh
-- by: kwh
SELECT floor(kwh / 5) * 5 AS kwh, COUNT(*) AS household_days
FROM (SELECT household_id, ts::DATE AS day, SUM(kwh) AS kwh FROM readings GROUP BY 1, 2) GROUP BY 1 ORDER BY 1;

-- question: kwh by week and its change
-- by: week
WITH weekly AS (SELECT date_trunc('week', ts) AS week, SUM(kwh) AS kwh FROM readings GROUP BY week)
SELECT week, kwh, kwh / LAG(kwh) OVER (ORDER BY week) - 1 AS change FROM weekly ORDER BY week;

-- question: moving average and running total of days
-- by: day
WITH daily AS (SELECT ts::DATE AS day, SUM(kwh) AS kwh FROM readings GROUP BY 1)
SELECT day, AVG(kwh) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week,
       SUM(kwh) OVER (ORDER BY day) AS running FROM daily ORDER BY day;

-- question: kwh and temperature
SELECT CORR(d.kwh, w.temperature) AS r, REGR_SLOPE(d.kwh, w.temperature) AS slope
FROM (SELECT ts::DATE AS day, SUM(kwh) AS kwh FROM readings GROUP BY 1) d JOIN weather w USING (day);

-- question: kwh and temperature by heating
-- by: heating
SELECT h.heating, REGR_SLOPE(r.kwh, w.temperature) AS slope
FROM readings r JOIN households h USING (household_id) JOIN weather w ON w.day = r.ts::DATE
GROUP BY h.heating ORDER BY h.heating;

-- question: kwh on cold days
-- by: cold
SELECT w.temperature < 3 AS cold, AVG(r.kwh) * 24 AS kwh_per_day
FROM readings r JOIN weather w ON CAST(r.ts AS DATE) = w.day GROUP BY cold ORDER BY cold;

-- question: kwh of a person by size of the household
-- by: people
SELECT people, AVG(kwh / people) AS kwh_per_person, COUNT(*) AS households
FROM (SELECT h.household_id, h.people, SUM(r.kwh) AS kwh
      FROM households h JOIN readings r USING (household_id) GROUP BY h.household_id, h.people)
GROUP BY people ORDER BY people;

-- question: kwh and area
SELECT CORR(kwh, area) AS r FROM (
    SELECT household_id, area, SUM(kwh) AS kwh FROM households JOIN readings USING (household_id) GROUP BY 1, 2);

-- question: households above twice the mean
WITH totals AS (SELECT household_id, SUM(kwh) AS kwh FROM readings GROUP BY household_id)
SELECT COUNT(*) AS households FROM totals WHERE kwh > 2 * (SELECT AVG(kwh) FROM totals);

-- question: share of the top tenth of households
WITH totals AS (SELECT household_id, SUM(kwh) AS kwh FROM readings GROUP BY household_id),
ranked AS (SELECT kwh, PERCENT_RANK() OVER (ORDER BY kwh DESC) AS place FROM totals)
SELECT SUM(kwh) FILTER (WHERE place <= 0.1) / SUM(kwh) AS share FROM ranked;

-- question: households with gaps
-- by: region
SELECT h.region, COUNT(*) AS households, COUNT(*) FILTER (WHERE n < 665) AS with_gaps
FROM (SELECT household_id, COUNT(kwh) AS n FROM readings GROUP BY household_id) JOIN households h USING (household_id)
GROUP BY h.region ORDER BY h.region;

-- question: jumps from one hour to the next
SELECT AVG(abs(change)) AS mean, QUANTILE_CONT(abs(change), 0.99) AS p99 FROM (
    SELECT kwh - LAG(kwh) OVER (PARTITION BY household_id ORDER BY ts) AS change FROM readings);

-- question: households by tariff and heating
-- by: tariff, heating
SELECT tariff, heating, COUNT(*) AS households, AVG(area) AS area FROM households GROUP BY ALL ORDER BY ALL;
