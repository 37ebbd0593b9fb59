-- D204 and D251: functions that other databases have.

-- case: a format of dates
-- outcome: refused D204 at 1:8
-- instead: SELECT strftime(born, '%Y') AS y, COUNT(*) FROM patients GROUP BY y
SELECT FORMAT_DATE('%Y', born) AS y, COUNT(*) FROM patients GROUP BY y;

-- case: a text read as a date
-- outcome: refused D204 at 1:44
-- instead: SELECT COUNT(*) FROM patients WHERE born > '2000-12-31'::DATE
SELECT COUNT(*) FROM patients WHERE born > TO_DATE('2000-12-31', 'YYYY-MM-DD');

-- case: days added to a date
-- outcome: refused D204 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE born + INTERVAL 1 MONTH > DATE '2000-12-31'
SELECT COUNT(*) FROM patients WHERE DATEADD(month, 1, born) > DATE '2000-12-31';

-- case: days taken from a moment
-- outcome: refused D251 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE born - INTERVAL 1 MONTH > DATE '2000-12-31'
SELECT COUNT(*) FROM patients WHERE DATETIME_SUB(born, INTERVAL 1 MONTH) > DATE '2000-12-31';

-- case: a difference with its part at the end
-- outcome: refused D251 at 1:12
-- instead: SELECT AVG(date_sub('day', visited_on, visited_on)) FROM visits
SELECT AVG(TIMESTAMP_DIFF(visited_on, visited_on, DAY)) FROM visits;

-- case: a part of a date by another name
-- outcome: refused D251 at 1:8
-- instead: SELECT date_part('year', born) AS y, COUNT(*) FROM patients GROUP BY y
SELECT DATEPART(year, born) AS y, COUNT(*) FROM patients GROUP BY y;

-- case: a date cut to its month
-- outcome: refused D251 at 1:8
-- instead: SELECT date_trunc('month', visited_on) AS m, COUNT(*) FROM visits GROUP BY m
SELECT DATETIME_TRUNC(visited_on, MONTH) AS m, COUNT(*) FROM visits GROUP BY m;

-- case: today
-- outcome: refused D204 at 1:44
-- instead: SELECT COUNT(*) FROM patients WHERE born < now()
SELECT COUNT(*) FROM patients WHERE born < GETDATE();

-- case: seconds since 1970
-- outcome: refused D204 at 1:12
-- instead: SELECT AVG(epoch(visited_on)) FROM visits
SELECT AVG(UNIX_TIMESTAMP(visited_on)) FROM visits;

-- case: a moment of seconds
-- outcome: refused D204 at 1:44
-- instead: SELECT COUNT(*) FROM patients WHERE born < to_timestamp(0)
SELECT COUNT(*) FROM patients WHERE born < FROM_UNIXTIME(0);

-- case: the last day of a month
-- outcome: refused D204 at 1:8
-- instead: SELECT last_day(visited_on) AS d, COUNT(*) FROM visits GROUP BY d
SELECT EOMONTH(visited_on) AS d, COUNT(*) FROM visits GROUP BY d;

-- case: buckets
-- outcome: refused D251 at 1:8
-- instead: SELECT FLOOR((age - 20) / 10) AS step, COUNT(*) FROM patients GROUP BY step
SELECT WIDTH_BUCKET(age, 0, 120, 12) AS step, COUNT(*) FROM patients GROUP BY step;

-- case: buckets of no whole numbers
-- outcome: refused D251 at 1:8
-- instead: SELECT FLOOR((income - 0) / 100000) AS step, COUNT(*) FROM patients GROUP BY step
SELECT WIDTH_BUCKET(income, 0, 500000, 5) AS step, COUNT(*) FROM patients GROUP BY step;

-- case: a percentile
-- outcome: refused D204 at 1:8
-- instead: SELECT QUANTILE_CONT(age, 0.9) FROM patients
SELECT APPROX_PERCENTILE(age, 0.9) FROM patients;

-- case: a count of values
-- outcome: refused D204 at 1:8
-- instead: SELECT COUNT(DISTINCT ward) FROM patients
SELECT COUNTD(ward) FROM patients;

-- case: a pattern
-- outcome: refused D204 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE regexp_matches(city, '^B')
SELECT COUNT(*) FROM patients WHERE REGEXP_CONTAINS(city, '^B');

-- case: zero for NULL
-- outcome: refused D204 at 1:12
-- instead: SELECT SUM(COALESCE(age, 0)) FROM patients
SELECT SUM(ZEROIFNULL(age)) FROM patients;

-- case: NULL for zero
-- outcome: refused D204 at 1:12
-- instead: SELECT AVG(NULLIF(age, 0)) FROM patients
SELECT AVG(NULLIFZERO(age)) FROM patients;

-- case: one of two values
-- outcome: refused D251 at 1:12
-- instead: SELECT SUM(CASE WHEN age IS NOT NULL THEN 1 ELSE 2 END) FROM patients
SELECT SUM(NVL2(age, 1, 2)) FROM patients;

-- case: a part of a text
-- outcome: refused D204 at 1:8
-- instead: SELECT substring(city, 1, 3) AS c, COUNT(*) FROM patients GROUP BY c
SELECT MID(city, 1, 3) AS c, COUNT(*) FROM patients GROUP BY c;

-- case: a text read as a number
-- outcome: refused D204 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE TRY_CAST(city AS DOUBLE) > 3
SELECT COUNT(*) FROM patients WHERE TRY_TO_NUMBER(city) > 3;

-- case: a square
-- outcome: refused D204 at 1:12
-- instead: SELECT SUM(age * age) FROM patients
SELECT SUM(SQUARE(age)) FROM patients;

-- case: capitals
-- outcome: refused D251 at 1:8
-- instead: SELECT upper(left(city, 1)) || lower(substring(city, 2)) AS c, COUNT(*) FROM patients GROUP BY c
SELECT INITCAP(city) AS c, COUNT(*) FROM patients GROUP BY c;

-- case: shares of groups
-- outcome: refused D204 at 1:14
-- instead: SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () FROM patients GROUP BY ward
SELECT ward, RATIO_TO_REPORT(COUNT(*)) OVER () FROM patients GROUP BY ward;

-- case: a fingerprint
-- outcome: refused D251 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE md5(city) > 'a'
SELECT COUNT(*) FROM patients WHERE FARM_FINGERPRINT(city) > 0;

-- case: days before, by a function
-- outcome: refused D251 at 1:35
-- instead: SELECT COUNT(*) FROM visits WHERE visited_on - INTERVAL (3) DAY > DATE '2022-01-01'
SELECT COUNT(*) FROM visits WHERE DATE_SUB(visited_on, INTERVAL 3 DAY) > DATE '2022-01-01';

-- case: the first rows by a call
-- outcome: refused D204 at 1:8
-- instead: SELECT ward, COUNT(*) FROM patients WHERE ward IS NOT NULL GROUP BY ward LIMIT 9
SELECT TOP (9) ward, COUNT(*) FROM patients WHERE ward IS NOT NULL GROUP BY ward;
