-- D251: functions that nobody has vetted for private rows, or for anybody.

-- case: a delay that depends on a row
-- outcome: refused D251 at 1:41
SELECT SUM(CASE WHEN city = 'Oslo' THEN sleep_ms(100) ELSE 0 END) FROM patients;

-- case: an error that depends on a row
-- outcome: refused D251 at 1:74
SELECT COUNT(*) FROM patients WHERE CASE WHEN city = 'Longyearbyen' THEN error(city) ELSE TRUE END;

-- case: work that grows with a value
-- outcome: refused D251 at 1:41
SELECT COUNT(*) FROM patients WHERE md5(bar(age, 0, 1, age * 1000000)) > 'a';

-- case: the statistics of a column
-- outcome: refused D251 at 1:8
SELECT stats(income) FROM patients LIMIT 1;

-- case: chance
-- outcome: refused D251 at 1:37
-- instead: SELECT COUNT(*) AS n FROM patients
SELECT COUNT(*) FROM patients WHERE random() < 0.5;

-- case: a seed
-- outcome: refused D251 at 1:8
SELECT setseed(0.5);

-- case: a sequence
-- outcome: refused D251 at 1:8
SELECT nextval('numbers');

-- case: a setting
-- outcome: refused D251 at 1:8
-- instead: SELECT COUNT(*) FROM patients
SELECT current_setting('threads');

-- case: a variable
-- outcome: refused D251 at 1:19
SELECT COUNT(*) + getvariable('x') FROM patients;

-- case: the text of the query that runs
-- outcome: refused D251 at 1:8
SELECT current_query(), COUNT(*) FROM patients;

-- case: a query in a text
-- outcome: refused D251 at 1:15
SELECT * FROM query('SELECT * FROM patients');

-- case: a table by the text of its name
-- outcome: refused D251 at 1:15
SELECT * FROM query_table('patients');

-- case: a file of values
-- outcome: refused D251 at 1:22
-- instead: SELECT COUNT(*) FROM places
SELECT COUNT(*) FROM read_csv('patients.csv');

-- case: a file of text
-- outcome: refused D251 at 1:21
SELECT content FROM read_text('/etc/passwd');

-- case: the names of files
-- outcome: refused D251 at 1:22
SELECT COUNT(*) FROM glob('*');

-- case: exact table sizes
-- outcome: refused D251 at 1:28
SELECT estimated_size FROM duckdb_tables();

-- case: extremes of every block of rows
-- outcome: refused D251 at 1:15
SELECT * FROM pragma_storage_info('patients');

-- case: the number of the transaction
-- outcome: refused D251 at 1:8
SELECT txid_current();

-- case: a line in the log
-- outcome: refused D251 at 1:14
SELECT COUNT(write_log(city)) FROM patients;

-- case: a serialised statement
-- outcome: refused D251 at 1:15
SELECT * FROM json_execute_serialized_sql('{}');

-- case: a struct around a value
-- outcome: refused D251 at 1:14
SELECT {'k': ward} AS k, COUNT(*) FROM patients GROUP BY k;

-- case: a function of a list
-- outcome: refused D251 at 1:12
SELECT SUM(list_aggregate([1, age], 'sum')) FROM patients;

-- case: an aggregate that looks like a scalar: all units as a list of bits
-- outcome: refused D251 at 1:8
SELECT bitstring_agg(children) FROM patients;

-- case: an aggregate that looks like a scalar: a sample of values
-- outcome: refused D251 at 1:8
SELECT reservoir_quantile(income, 0.5, 1) FROM patients;

-- case: the unit's hash
-- outcome: refused D251 at 1:8
-- instead: SELECT md5_number_lower(patient_id::VARCHAR) % 2 AS h, AVG(age) FROM patients GROUP BY h
SELECT hash(patient_id) % 100 AS h, AVG(age) FROM patients GROUP BY h;

-- case: lists of two lengths compared
-- outcome: refused D251 at 1:12
SELECT SUM(list_distance([age, 1], [1])) FROM patients;

-- case: time since a birth by the clock
-- outcome: refused D251 at 1:17
SELECT AVG(year(age(born))) FROM patients;

-- case: a part of a date named by a row
-- outcome: refused D251 at 1:12
-- instead: SELECT SUM(year(born)) FROM patients
SELECT SUM(date_part(city, born)) FROM patients;

-- case: compared with any item of a list
-- outcome: refused D251 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE list_contains(allergies, 'nuts')
SELECT COUNT(*) FROM patients WHERE 'nuts' = ANY(allergies);

-- case: tuples in an order
-- outcome: refused D251 at 1:38
-- instead: SELECT COUNT(*) FROM patients WHERE sex < 'M' OR (sex = 'M' AND ward < 'B')
SELECT COUNT(*) FROM patients WHERE (sex, ward) < ('M', 'B');

-- case: how old somebody is
-- outcome: refused D251 at 1:12
-- instead: SELECT AVG(date_sub('year', born, DATE '2025-01-01') CLAMPED BETWEEN 0 AND 120) FROM patients
SELECT AVG(age(born)) FROM patients;

-- case: a slice of a text
-- outcome: refused D251 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE substring(city, 1, 3) = 'Ber'
SELECT COUNT(*) FROM patients WHERE city[1:3] = 'Ber';

-- case: the outer one of two functions
-- outcome: refused D251
-- instead: SELECT COUNT(*) FROM patients WHERE lower(trim(city)) = 'oslo'
SELECT COUNT(*) FROM patients WHERE INITCAP(TRIM(city)) = 'Oslo';
