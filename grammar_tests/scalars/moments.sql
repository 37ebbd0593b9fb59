-- Moments made, cut and counted.

-- case: buckets of two weeks
-- outcome: accepted
SELECT time_bucket(INTERVAL '2 weeks', visited_on) AS fortnight, COUNT(*) AS n FROM visits GROUP BY fortnight;

-- case: buckets of months from a day
-- outcome: accepted
SELECT time_bucket(INTERVAL 2 MONTH, visited_on, DATE '2022-01-15') AS b, COUNT(*) AS n FROM visits GROUP BY b;

-- case: buckets of minutes
-- outcome: accepted
SELECT time_bucket(INTERVAL '90 minutes', seen_at)::TIME AS clock, COUNT(*) AS n FROM visits GROUP BY clock;

-- case: days counted out
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE visited_on + to_days(minutes) > DATE '2023-01-01';

-- case: an INTERVAL of a column
-- outcome: accepted
SELECT AVG(date_diff('day', visited_on, visited_on + INTERVAL (minutes) DAY)) AS days FROM visits;

-- case: months, quarters and years of a column
-- outcome: accepted
SELECT AVG(year(born + to_years(age))) AS y, AVG(month(born + to_months(children))) AS m, AVG(quarter(born + to_quarters(children))) AS q FROM patients;

-- case: long spans of a column
-- outcome: accepted
SELECT AVG(year(born + to_decades(children))) AS d, AVG(year(born + to_centuries(children))) AS c, AVG(year(born + to_millennia(LEAST(children, 3)))) AS m FROM patients WHERE children BETWEEN 0 AND 5;

-- case: hours, minutes and seconds of a column
-- outcome: accepted
SELECT AVG(hour(seen_at + to_hours(minutes))) AS h, AVG(minute(seen_at + to_minutes(minutes))) AS m, AVG(second(seen_at + to_seconds(minutes))) AS s FROM visits;

-- case: weeks and the smallest spans of a column
-- outcome: accepted
SELECT AVG(epoch(to_weeks(minutes))) AS w, AVG(epoch(to_milliseconds(minutes))) AS ms, AVG(epoch(to_microseconds(minutes))) AS us FROM visits;

-- case: parts of the time between two moments
-- outcome: accepted
SELECT AVG(EXTRACT(day FROM v.seen_at - p.registered)) AS days, AVG(hour(v.seen_at - p.registered)) AS hours FROM visits v JOIN patients p ON p.patient_id = v.patient_id;

-- case: a day and a time of day
-- outcome: accepted
SELECT AVG(hour(visited_on + TIME '10:30:00')) AS h, AVG(hour(visited_on + make_time(minutes // 60, minutes % 60, 0))) AS m FROM visits WHERE minutes < 480;

-- case: a moment from its parts
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE make_timestamp(year(visited_on), month(visited_on), day(visited_on), 9, 30, 0) < seen_at;

-- case: moments from numbers
-- outcome: accepted
SELECT AVG(year(make_timestamp_ms(epoch_ms(seen_at)))) AS a, AVG(year(make_timestamp(epoch_us(seen_at)))) AS b, AVG(year(make_timestamp_ns(epoch_ns(seen_at))::TIMESTAMP)) AS c, AVG(year(to_timestamp(epoch(seen_at)) AT TIME ZONE 'UTC')) AS d FROM visits;

-- case: eras, days of months and nanoseconds
-- outcome: accepted
SELECT SUM(era(born)) AS era, AVG(days_in_month(born)) AS days, AVG(nanosecond(registered)) AS ns FROM patients;

-- case: parts by every name
-- outcome: accepted
SELECT AVG(weekday(visited_on)) AS a, AVG(weekofyear(visited_on)) AS b, AVG(dayofmonth(visited_on)) AS c, AVG(datepart('doy', visited_on)) AS d, AVG(date_part('dow', visited_on)) AS e FROM visits;

-- case: differences by every name
-- outcome: accepted
SELECT AVG(datediff('week', visited_on, DATE '2025-01-01')) AS a, AVG(datesub('month', visited_on, DATE '2025-01-01')) AS b, COUNT(datetrunc('month', visited_on)) AS c FROM visits;

-- case: seconds that are beyond all time are NULL
-- outcome: accepted
-- plain: SELECT COUNT(NULL) AS n, COUNT(*) AS m FROM visits
SELECT COUNT(to_timestamp(-1e308)) AS n, COUNT(*) AS m FROM visits;
