-- Errors tell: whatever would fail on one person's row is total, or refused before a row is read.

-- case: a whole division by zero
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT SUM(LEAST(GREATEST(TRY(100 // (age - 33)), 0), 100)) AS s FROM patients;
SELECT SUM(LEAST(GREATEST(100 // (age - 33), 0), 100)) AS s FROM patients;

-- case: a remainder by zero
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT SUM(LEAST(GREATEST(TRY(100 % (age - 33)), 0), 100)) AS s FROM patients;
SELECT SUM(LEAST(GREATEST(100 % (age - 33), 0), 100)) AS s FROM patients;

-- case: a text that is no number for one person
-- attack: expressions that fail
-- outcome: accepted
-- oracle: no-meaning (what is no number is NULL)
SELECT SUM(LEAST(GREATEST(CAST(city AS INTEGER), 0), 100)) AS s FROM patients WHERE patient_id = 0;

-- case: a condition that guards nothing
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM patients WHERE city <> 'Longyearbyen' AND TRY(100 // (age - 40)) >= 0;
SELECT COUNT(*) AS n FROM patients WHERE city <> 'Longyearbyen' AND 100 // (age - 40) >= 0;

-- case: an assertion
-- attack: expressions that fail
-- outcome: refused D251 at 1:37
SELECT COUNT(*) FROM patients WHERE assert_true(city <> 'Longyearbyen') IS NULL;

-- case: a subquery of more than one row
-- attack: expressions that fail
-- outcome: refused D255 at 1:55
SELECT COUNT(*) FROM patients p WHERE p.age > (SELECT v.minutes FROM visits v WHERE v.patient_id = p.patient_id);

-- case: an expression from the data
-- attack: expressions that fail
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE regexp_matches(city, ward);

-- case: a like with an escape from the data
-- attack: expressions that fail
-- outcome: refused D101 at 1:59
SELECT COUNT(*) FROM patients WHERE city LIKE '%x' ESCAPE ward;

-- case: a date from numbers of the data
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM patients WHERE TRY(make_date(2024, children, age)) > DATE '2024-01-01';
SELECT COUNT(*) AS n FROM patients WHERE make_date(2024, children, age) > DATE '2024-01-01';

-- case: a date read in a form
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT COUNT(*) FROM patients WHERE try_strptime(city, '%Y') > TIMESTAMP '2020-01-01';
SELECT COUNT(*) FROM patients WHERE strptime(city, '%Y') > TIMESTAMP '2020-01-01';

-- case: a letter by its number
-- attack: expressions that fail
-- outcome: accepted
SELECT COUNT(*) FROM patients WHERE chr(age) = 'A';

-- case: a factorial
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT SUM(LEAST(TRY(factorial(age)), 10)) FROM patients;
SELECT SUM(LEAST(factorial(age), 10)) FROM patients;

-- case: whole numbers that overflow
-- attack: expressions that fail
-- outcome: accepted
-- oracle: no-meaning (what overflows is NULL)
SELECT COUNT(*) AS n FROM patients WHERE age + 2147483647 > 0;

-- case: a small type
-- attack: expressions that fail
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE age::TINYINT > 10;

-- case: a decimal too narrow
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM patients WHERE TRY_CAST(income AS DECIMAL(4, 2)) > 10;
SELECT COUNT(*) AS n FROM patients WHERE income::DECIMAL(4, 2) > 10;

-- case: a text that is no member
-- attack: expressions that fail
-- outcome: refused D251 at 1:37
SELECT COUNT(*) FROM patients WHERE city::blood_type = 'A';

-- case: an enum beside a text of the data
-- attack: expressions that fail
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE blood = ward;

-- case: a text as long as one likes
-- attack: expressions that fail
-- outcome: refused D205 at 1:44
SELECT COUNT(*) FROM patients WHERE length(repeat(ward || city, 1000000000)) > 5;

-- case: a text padded as the data say
-- attack: expressions that fail
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE lpad(city, age * 100000, 'x') = 'x';

-- case: a list as long as the data say
-- attack: expressions that fail
-- outcome: refused D251 at 1:41
SELECT COUNT(*) FROM patients WHERE len(range(age * 1000000)) > 5;

-- case: bytes that are no text
-- attack: expressions that fail
-- outcome: refused D251 at 1:37
SELECT COUNT(*) FROM patients WHERE decode(from_hex('FF')) = city;

-- case: a document that is none
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT COUNT(*) FROM patients WHERE json_extract(CASE WHEN json_valid(city) THEN city END, '$.a') IS NOT NULL
SELECT COUNT(*) FROM patients WHERE json_extract(city, '$.a') IS NOT NULL;

-- case: a date moved too far
-- attack: expressions that fail
-- outcome: refused D251
SELECT COUNT(*) AS n FROM patients WHERE registered + INTERVAL 290000 YEAR > TIMESTAMP '2024-01-01';

-- case: a root, a logarithm and an arc of anything
-- attack: expressions that fail
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE sqrt(score) + ln(income) + acos(score) > 0;

-- case: a sum of the widest numbers per unit
-- attack: expressions that fail
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id, SUM(steps * steps) AS s FROM visits GROUP BY patient_id) WHERE s > 0;

-- case: a failure in a window
-- attack: expressions that fail
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT SUM(steps) OVER (PARTITION BY patient_id) AS s FROM visits) WHERE s > 0;

-- case: a failure in a key
-- attack: expressions that fail
-- outcome: accepted
SELECT 100 // age AS k, COUNT(*) AS n FROM patients GROUP BY k;

-- case: a failure in the condition of a join
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM patients p JOIN visits v ON v.patient_id = p.patient_id AND TRY(100 // (p.age - 40)) > 0;
SELECT COUNT(*) AS n FROM patients p JOIN visits v ON v.patient_id = p.patient_id AND 100 // (p.age - 40) > 0;

-- case: a failure in EXISTS
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND TRY(v.minutes % (v.minutes - 33)) = 0);
SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.minutes % (v.minutes - 33) = 0);

-- case: a failure in a set operation
-- attack: expressions that fail
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM (SELECT patient_id, TRY(7 // (minutes - 33)) AS x FROM visits EXCEPT SELECT patient_id, TRY(7 // (age - 40)) FROM patients);
SELECT COUNT(*) AS n FROM (SELECT patient_id, 7 // (minutes - 33) AS x FROM visits EXCEPT SELECT patient_id, 7 // (age - 40) FROM patients);

-- case: a released number out of range for its list of rows
-- attack: expressions that fail
-- outcome: refused D252 at 1:37
SELECT COUNT(*) AS n FROM patients, range((SELECT COUNT(*) FROM visits)) AS r(i);

-- case: a key that an alias list has renamed
-- attack: names that hide what they are
-- outcome: accepted
-- oracle: no-meaning (two stages)
SELECT COUNT(*) AS n FROM patients p JOIN (SELECT b, a FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS t(a, b)) AS u ON p.ward = u.a;

-- case: a count under the name of a key
-- attack: names that hide what they are
-- outcome: refused D303 at 1:44
SELECT COUNT(*) FROM patients JOIN (SELECT n, ward FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) AS t(n, ward)) AS u ON age = u.ward;

-- case: more rows out of CUBE than went in
-- attack: names that hide what they are
-- outcome: accepted
-- oracle: no-meaning (two stages)
SELECT COUNT(*) AS n FROM patients p JOIN (SELECT ward, sex, SUM(n) AS n FROM (SELECT ward, sex, COUNT(*) AS n FROM patients GROUP BY ward, sex LIMIT 3) GROUP BY CUBE (ward, sex)) AS u ON p.ward = u.ward;
