-- One more row for what is hidden: the total over all groups less the groups that are shown.

-- case: the rest of the cities
-- outcome: accepted
-- plain: SELECT city, COUNT(*) FROM patients GROUP BY city UNION ALL SELECT 'other', 0
SELECT OPTIONS(other_group = 'other') city, COUNT(*) AS n FROM patients GROUP BY city;

-- case: the long form, sums and a condition
-- outcome: accepted
-- plain: SELECT city, SUM(age) FROM patients WHERE smoker GROUP BY city UNION ALL SELECT 'elsewhere', 0
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(other_group = 'elsewhere') city, SUM(age) AS years
FROM patients
WHERE smoker
GROUP BY city;

-- case: an average over what is left, which is nothing here
-- outcome: accepted
-- plain: SELECT drug, AVG(dose), COUNT(dose) FROM treatments JOIN visits USING (visit_id) WHERE patient_id IS NOT NULL GROUP BY drug UNION ALL SELECT 'other', NULL, 0
SELECT OPTIONS(other_group = 'other') drug, AVG(dose) AS mean_dose, COUNT(dose) AS n
FROM treatments JOIN visits USING (visit_id)
GROUP BY drug;

-- case: a number as text
-- outcome: accepted
-- plain: SELECT CAST(place_id AS VARCHAR), COUNT(*) FROM visits GROUP BY 1 UNION ALL SELECT 'other', 0
SELECT OPTIONS(other_group = 'other') CAST(place_id AS VARCHAR) AS place, COUNT(*) AS n FROM visits GROUP BY place;

-- case: an enum, whose other is no member of it
-- outcome: accepted
-- plain: SELECT blood::VARCHAR, COUNT(*) FROM patients GROUP BY 1 UNION ALL SELECT 'unknown', 0
SELECT OPTIONS(other_group = 'unknown') blood, COUNT(*) AS n FROM patients GROUP BY blood;

-- case: two keys, one of them public
-- outcome: accepted
-- plain: SELECT sex, city, COUNT(*) FROM patients GROUP BY ALL UNION ALL SELECT 'other', 'other', 0
SELECT OPTIONS(other_group = 'other') sex, city, COUNT(*) AS n FROM patients GROUP BY sex, city;

-- case: people, of whom each is in one group
-- outcome: accepted
-- plain: SELECT city, COUNT(*) FROM patients GROUP BY city UNION ALL SELECT 'other', 0
SELECT OPTIONS(other_group = 'other') city, COUNT(DISTINCT patient_id) AS people FROM patients GROUP BY city;

-- case: people of many visits, whose city is one
-- outcome: accepted
-- plain: SELECT city, COUNT(DISTINCT patient_id), COUNT(*) FROM patients JOIN visits USING (patient_id) GROUP BY city UNION ALL SELECT 'other', 0, 0
SELECT OPTIONS(other_group = 'other') p.city, COUNT(DISTINCT p.patient_id) AS people, COUNT(*) AS visits
FROM patients p JOIN visits v USING (patient_id)
GROUP BY p.city;

-- case: ordinary SQL above it
-- outcome: accepted
-- plain: SELECT upper(city), COUNT(*), 0 FROM patients GROUP BY city HAVING COUNT(*) > 2 UNION ALL SELECT 'OTHER', 0, 0 WHERE false
SELECT OPTIONS(other_group = 'other') upper(city) AS city, COUNT(*) AS n, GROUPING(city) AS level
FROM patients
GROUP BY city
HAVING COUNT(*) > 2
ORDER BY n DESC;

-- case: keys alone
-- outcome: accepted
-- plain: SELECT DISTINCT city FROM patients UNION ALL SELECT 'hidden'
SELECT OPTIONS(other_group = 'hidden') DISTINCT city FROM patients;

-- case: inside a WITH
-- outcome: accepted
-- plain: SELECT 1 + COUNT(DISTINCT city) + 1 FROM patients
WITH c AS (SELECT OPTIONS(other_group = 'other') city, COUNT(*) AS n FROM patients GROUP BY city) SELECT COUNT(*) FROM c;
