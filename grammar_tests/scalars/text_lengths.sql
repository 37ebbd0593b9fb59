-- Lengths of texts and lists: from the policy, from the query, from what is listed.

-- case: the length of a text with a declared length
-- outcome: accepted
SELECT AVG(length(remark)) AS characters, SUM(strlen(remark)) AS bytes, SUM(bit_length(remark)) AS bits FROM answers;

-- case: a declared length through functions that make no text longer
-- outcome: accepted
SELECT SUM(length(upper(trim(remark)))) AS n, SUM(strpos(remark, '"')) AS place, SUM(length(reverse(right(remark, 5)))) AS few FROM answers;

-- case: texts put together
-- outcome: accepted
SELECT SUM(length(remark || '!' || sex)) AS n, SUM(length(concat_ws('-', remark, ward, 'x'))) AS m FROM answers JOIN patients USING (patient_id);

-- case: the length of the first characters
-- outcome: accepted
SELECT SUM(length(left(city, 10))) AS n, SUM(length(substring(city, 2, 4))) AS m, SUM(length(lpad(city, 8, '*'))) AS p FROM patients;

-- case: a length that the query bounds
-- outcome: accepted
SELECT SUM(LEAST(length(city), 30)) AS n FROM patients;

-- case: the length of a list with a declared length
-- outcome: accepted
SELECT AVG(len(scores)) AS items FROM answers;

-- case: the length of listed texts
-- outcome: accepted
SELECT SUM(length(kind)) AS n, SUM(strlen(kind)) AS bytes FROM visits;

-- case: one of two texts
-- outcome: accepted
SELECT SUM(length(CASE WHEN smoker THEN ward ELSE left(city, 3) END)) AS n FROM patients;

-- case: the length of each unit's longest text
-- outcome: accepted
SELECT AVG(most) AS longest FROM (SELECT patient_id, MAX(length(remark)) AS most FROM answers GROUP BY patient_id);

-- case: a length as a key
-- outcome: accepted
SELECT length(remark) // 5 AS fives, COUNT(*) AS n FROM answers GROUP BY fives;
