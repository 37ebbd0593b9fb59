-- D205: these types cannot be combined.

-- case: a number plus a text
-- outcome: refused D205 at 1:12
-- instead: SELECT SUM(age + CAST(ward AS INTEGER) CLAMPED BETWEEN 0 AND 500) FROM patients
SELECT SUM(age + ward) FROM patients;

-- case: a sum of texts
-- outcome: refused D205 at 1:12
-- instead: SELECT COUNT(ward) FROM patients
SELECT SUM(ward) FROM patients;

-- case: a mean of dates
-- outcome: refused D205 at 1:12
SELECT AVG(born) FROM patients;

-- case: a sum of booleans and dates
-- outcome: refused D205 at 1:22
SELECT SUM(CASE WHEN smoker THEN 1 ELSE born END) FROM patients;

-- case: a number compared with a date
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE age > born;

-- case: a text that is no number
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE age = 20
SELECT COUNT(*) FROM patients WHERE age = 'old';

-- case: a text that is no date
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE born < '2024-01-31'
SELECT COUNT(*) FROM patients WHERE born < 'yesterday';

-- case: LIKE over a number
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE age LIKE '4%';

-- case: a negated date
-- outcome: refused D205 at 1:41
-- instead: SELECT COUNT(*) FROM patients WHERE NOT born > '2000-01-01'
SELECT COUNT(*) FROM patients WHERE NOT born;

-- case: the days between two numbers
-- outcome: refused D205 at 1:12
-- instead: SELECT SUM(date_diff('day', born, registered)) FROM patients
SELECT SUM(date_diff('day', age, children)) FROM patients;

-- case: an unknown part of a date
-- outcome: refused D251 at 1:12
SELECT AVG(date_part('moon', born)) FROM patients;

-- case: a list as a value
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE allergies = 3;

-- case: sides of a union that differ in type
-- outcome: refused D205 at 1:79
-- instead: SELECT COUNT(x) FROM (SELECT patient_id, CAST(cost AS VARCHAR) AS x FROM visits UNION ALL SELECT patient_id, CAST(born AS VARCHAR) FROM patients)
SELECT SUM(x) FROM (SELECT patient_id, cost AS x FROM visits UNION ALL SELECT patient_id, born FROM patients);

-- case: sides of a union that differ in number
-- outcome: refused D205 at 1:77
-- instead: SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients UNION ALL SELECT patient_id, minutes FROM visits)
SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients UNION ALL SELECT patient_id FROM visits);

-- case: a pattern from the data
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE regexp_matches('Oslo', city);

-- case: a text repeated as often as a row says
-- outcome: refused D205 at 1:44
SELECT COUNT(*) FROM patients WHERE length(repeat('x', age)) > 3;

-- case: a text repeated very often
-- outcome: refused D205 at 1:44
SELECT COUNT(*) FROM patients WHERE length(repeat(city, 1000)) > 3;

-- case: a shift by a column
-- outcome: refused D205 at 1:12
-- instead: SELECT SUM(age << 3) FROM patients
SELECT SUM(age << children) FROM patients;

-- case: a part of a date that is a column
-- outcome: refused D205 at 1:25
-- instead: SELECT COUNT(date_trunc('month', visited_on)) FROM visits
SELECT COUNT(date_trunc(kind, visited_on)) FROM visits;

-- case: a part of a date that is a column of a known name
-- outcome: refused D205 at 1:25
SELECT COUNT(date_trunc(month, d)) FROM (SELECT patient_id, born AS d, city AS month FROM patients);

-- case: a part of a date at the end
-- outcome: refused D205 at 1:25
-- instead: SELECT COUNT(date_trunc('month', v.visited_on)) FROM visits v
SELECT COUNT(DATE_TRUNC(v.visited_on, MONTH)) FROM visits v;

-- case: a part of a difference at the end
-- outcome: refused D205 at 1:22
-- instead: SELECT AVG(date_diff('day', registered, born)) FROM patients
SELECT AVG(DATE_DIFF(born, registered, DAY)) FROM patients;

-- case: a difference in a column's part
-- outcome: refused D205 at 1:21
SELECT SUM(datediff(kind, visited_on, visited_on)) FROM visits;

-- case: a part of a release that is a column
-- outcome: refused D205 at 1:19
SELECT date_trunc(ward, DATE '2020-01-01'), n FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: a bucket as wide as a column says
-- outcome: refused D205 at 1:38
-- instead: SELECT COUNT(*) FROM visits GROUP BY time_bucket(INTERVAL '1' WEEK, visited_on)
SELECT COUNT(*) FROM visits GROUP BY time_bucket(to_days(minutes), visited_on);

-- case: a bucket of months and days
-- outcome: refused D205 at 1:38
SELECT COUNT(*) FROM visits GROUP BY time_bucket(INTERVAL '1 month 1 day', visited_on);

-- case: a bucket of no width
-- outcome: refused D205 at 1:38
-- instead: SELECT COUNT(*) FROM visits GROUP BY time_bucket(INTERVAL '3' MONTH, visited_on)
SELECT COUNT(*) FROM visits GROUP BY time_bucket(INTERVAL '0 days', visited_on);

-- case: a format from the data
-- outcome: refused D205 at 1:14
-- instead: SELECT COUNT(format('{}', age)) FROM patients
SELECT COUNT(format(city, age)) FROM patients;

-- case: a format that may not fit
-- outcome: refused D205 at 1:14
-- instead: SELECT COUNT(printf('%s is %d', city, age)) FROM patients
SELECT COUNT(printf('%s is %5.2f', city, age)) FROM patients;

-- case: a format with too few values
-- outcome: refused D205 at 1:14
-- instead: SELECT COUNT(format('{} {}', city, ward)) FROM patients
SELECT COUNT(format('{} {}', city)) FROM patients;

-- case: a pattern of files from the data
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE city GLOB ward;

-- case: the distance of two numbers
-- outcome: refused D205 at 1:12
SELECT SUM(levenshtein(age, 'a')) FROM patients;

-- case: the code of a text
-- outcome: refused D205 at 1:12
-- instead: SELECT COUNT(*) FROM patients WHERE city < 'M'
SELECT SUM(enum_code(city)) FROM patients;

-- case: a map with a key twice
-- outcome: refused D205 at 1:17
-- instead: SELECT SUM(MAP {'A': 1, 'B': 2}[ward]) FROM patients
SELECT SUM(MAP {'A': 1, 'A': 2}[ward]) FROM patients;

-- case: a map with keys from the data
-- outcome: refused D205 at 1:14
SELECT COUNT(map_extract_value(MAP([city, ward], [1, 2]), 'Oslo')) FROM patients;

-- case: a list of texts and dates
-- outcome: refused D205 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE list_contains([CAST(city AS DATE), born], '2024-01-31')
SELECT COUNT(*) FROM patients WHERE list_contains([city, born], 'Oslo');

-- case: a place in a list that is no whole number
-- outcome: refused D205 at 1:12
SELECT SUM(list_extract([1, 2, 3], income)) FROM patients;

-- case: different lists
-- outcome: refused D205 at 1:8
-- instead: SELECT COUNT(DISTINCT len(allergies)) FROM patients
SELECT COUNT(DISTINCT allergies) FROM patients;

-- case: a moment from three numbers
-- outcome: refused D205 at 1:14
-- instead: SELECT COUNT(make_timestamp(2020, 1, age, 0, 0, 0)) FROM patients
SELECT COUNT(make_timestamp(2020, 1, age)) FROM patients;

-- case: a base of forty
-- outcome: refused D205 at 1:14
-- instead: SELECT COUNT(to_base(age, 36)) FROM patients
SELECT COUNT(to_base(age, 40)) FROM patients;

-- case: days of an INTERVAL from a text
-- outcome: refused D205 at 1:31
-- instead: SELECT COUNT(born + INTERVAL (CAST(city AS INTEGER)) DAY) FROM patients
SELECT COUNT(born + INTERVAL (city) DAY) FROM patients;

-- case: lists handed down to private rows
-- outcome: refused D205 at 2:48
-- instead: WITH k AS (SELECT ward, list(sex)::VARCHAR AS l FROM (SELECT ward, sex, COUNT(*) FROM patients GROUP BY ALL) GROUP BY ward) SELECT COUNT(*), COUNT(l) FROM patients p JOIN k USING (ward)
WITH k AS (SELECT ward, list(sex) AS l FROM (SELECT ward, sex, COUNT(*) FROM patients GROUP BY ALL) GROUP BY ward)
SELECT COUNT(*), COUNT(l) FROM patients p JOIN k USING (ward);

-- case: the spread of words
-- outcome: refused D205 at 1:16
SELECT VAR_POP(ward) FROM patients;

-- case: a correlation with words
-- outcome: refused D205 at 1:18
SELECT CORR(age, city) FROM patients;

-- case: a spread per unit of words
-- outcome: refused D205 at 1:42
SELECT COUNT(s) FROM (SELECT patient_id, STDDEV(kind) AS s FROM visits GROUP BY patient_id);

-- case: the first of values that are only counted
-- outcome: refused D205 at 1:42
SELECT COUNT(a) FROM (SELECT patient_id, ANY_VALUE(allergies) AS a FROM patients GROUP BY patient_id);

-- case: in the order of values that are only counted
-- outcome: refused D205 at 1:61
SELECT COUNT(a) FROM (SELECT patient_id, FIRST(age ORDER BY allergies) AS a FROM patients GROUP BY patient_id);

-- case: the value beside nothing
-- outcome: refused D205 at 1:42
-- instead: SELECT COUNT(a) FROM (SELECT patient_id, ARG_MIN(kind, cost) AS a FROM visits GROUP BY patient_id)
SELECT COUNT(a) FROM (SELECT patient_id, ARG_MIN(kind) AS a FROM visits GROUP BY patient_id);

-- case: numbers put together as a text
-- outcome: refused D205 at 1:42
-- instead: SELECT COUNT(a) FROM (SELECT patient_id, STRING_AGG(CAST(minutes AS VARCHAR), ',' ORDER BY cost) AS a FROM visits GROUP BY patient_id)
SELECT COUNT(a) FROM (SELECT patient_id, STRING_AGG(minutes, ',' ORDER BY cost) AS a FROM visits GROUP BY patient_id);

-- case: a separator that is no constant
-- outcome: refused D205 at 1:59
-- instead: SELECT COUNT(a) FROM (SELECT patient_id, STRING_AGG(kind, ',' ORDER BY cost) AS a FROM visits GROUP BY patient_id)
SELECT COUNT(a) FROM (SELECT patient_id, STRING_AGG(kind, kind ORDER BY cost) AS a FROM visits GROUP BY patient_id);

-- case: rows of something that is no list
-- outcome: refused D205 at 1:39
-- instead: SELECT COUNT(*) FROM patients, unnest(string_split(city, ' ')) AS u(word)
SELECT COUNT(*) FROM patients, unnest(city) AS u(word);

-- case: a list where a text belongs
-- outcome: refused D205 at 1:8
-- instead: SELECT allergy, COUNT(*) FROM patients, unnest(allergies) AS u(allergy) GROUP BY allergy
SELECT upper(allergies) AS a, COUNT(*) FROM patients GROUP BY a;

-- case: how many items of a list count, not a number of items
-- outcome: refused D205 at 1:16
-- instead: SELECT OPTIONS(max_unnest = 3) COUNT(*) FROM patients, unnest(allergies) AS u(a)
SELECT OPTIONS(max_unnest = 0) COUNT(*) FROM patients, unnest(allergies) AS u(a);

-- case: a list around a value as a key
-- outcome: refused D205 at 1:41
-- instead: SELECT ward, COUNT(*) FROM patients GROUP BY ward
SELECT COUNT(*) FROM patients GROUP BY [ward];

-- case: a JSON path that is not written from its root
-- outcome: refused D205 at 1:16
-- instead: SELECT doc ->> '$.a.n' AS n, COUNT(*) FROM answers GROUP BY n
SELECT doc ->> 'a.n' AS n, COUNT(*) FROM answers GROUP BY n;

-- case: JSON of a number
-- outcome: refused D205 at 1:8
-- instead: SELECT COUNT(doc ->> '$.a') FROM answers
SELECT COUNT(age ->> '$.a') FROM patients;

-- case: a field of something that has none
-- outcome: refused D205 at 1:14
-- instead: SELECT COUNT(home['town']) FROM answers
SELECT COUNT(city['a']) FROM patients;

-- case: two answers with unlike numbers of columns
-- outcome: refused D205
-- instead: SELECT 'patients' AS what, COUNT(*) AS n FROM patients UNION ALL SELECT 'visits', COUNT(*) FROM visits
SELECT 'patients' AS what, COUNT(*) AS n FROM patients UNION ALL SELECT COUNT(*) FROM visits;

-- case: a day that no calendar has, as a constant
-- outcome: refused D205 at 1:53
-- instead: SELECT COUNT(*) FROM visits WHERE visited_on < DATE '2024-02-29'
SELECT COUNT(*) FROM visits WHERE visited_on < DATE '2024-02-31';

-- case: a constant text that is no number
-- outcome: refused D205 at 1:43
-- instead: SELECT COUNT(*) FROM patients WHERE age < TRY_CAST('x' AS INTEGER)
SELECT COUNT(*) FROM patients WHERE age < CAST('x' AS INTEGER);

-- case: a text in a tuple, which DuckDB compares as a text there
-- outcome: refused D205 at 1:36
-- instead: SELECT COUNT(*) FROM visits WHERE (visited_on, urgent) = (DATE '2024-01-31', true)
SELECT COUNT(*) FROM visits WHERE (visited_on, urgent) = ('2024-01-31', true);

-- case: an average of moments
-- outcome: refused D205
-- instead: SELECT AVG(epoch(seen_at)) FROM visits
SELECT AVG(seen_at) FROM visits;

-- case: an average of days
-- outcome: refused D205
-- instead: SELECT MEDIAN(visited_on) FROM visits
SELECT AVG(visited_on) FROM visits;

-- case: so many times an interval
-- outcome: refused D205
-- instead: SELECT COUNT(*) FROM visits WHERE visited_on + to_days(2) < '2024-01-01'
SELECT COUNT(*) FROM visits WHERE visited_on + INTERVAL '1 day' * 2 < '2024-01-01';

-- case: members that are handed down have no order among private rows
-- outcome: refused D205
-- instead: SELECT COUNT(*) AS n FROM patients AS p JOIN (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood) AS r ON p.blood = r.blood WHERE r.blood::VARCHAR < 'B'
SELECT COUNT(*) AS n
FROM patients AS p JOIN (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood) AS r ON p.blood = r.blood
WHERE r.blood < 'B';
