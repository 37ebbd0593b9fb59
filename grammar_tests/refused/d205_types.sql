-- D205: these types do not go together.

-- case: a number plus a text
-- outcome: refused D205 at 1:12
SELECT SUM(age + ward) FROM patients;

-- case: a sum of texts
-- outcome: refused D205 at 1:12
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
SELECT COUNT(*) FROM patients WHERE age = 'old';

-- case: a text that is no date
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE born < 'yesterday';

-- case: LIKE over a number
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE age LIKE '4%';

-- case: a negated date
-- outcome: refused D205 at 1:41
SELECT COUNT(*) FROM patients WHERE NOT born;

-- case: the days between two numbers
-- outcome: refused D205 at 1:12
SELECT SUM(date_diff('day', age, children)) FROM patients;

-- case: an unknown part of a date
-- outcome: refused D251 at 1:12
SELECT AVG(date_part('moon', born)) FROM patients;

-- case: a list as a value
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE allergies = 3;

-- case: sides of a union that differ in type
-- outcome: refused D205 at 1:79
SELECT SUM(x) FROM (SELECT patient_id, cost AS x FROM visits UNION ALL SELECT patient_id, born FROM patients);

-- case: sides of a union that differ in number
-- outcome: refused D205 at 1:77
SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients UNION ALL SELECT patient_id FROM visits);

-- case: a pattern from the data
-- outcome: refused D205 at 1:37
SELECT COUNT(*) FROM patients WHERE regexp_matches('Oslo', city);

-- case: a private moment in another time zone
-- outcome: refused D205 at 1:35
SELECT COUNT(*) FROM visits WHERE seen_at AT TIME ZONE 'Europe/Oslo' > TIMESTAMPTZ '2024-01-01 00:00:00+00';
