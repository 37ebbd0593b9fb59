-- D205: quantiles at no place, or of what has no order among numbers.

-- case: beyond the last row
-- outcome: refused D205 at 1:27
-- instead: SELECT QUANTILE_CONT(age, 0.95) FROM patients
SELECT QUANTILE_CONT(age, 1.5) FROM patients;

-- case: from the other end
-- outcome: refused D205 at 1:28
-- instead: SELECT QUANTILE_CONT(age, 0.75) FROM patients
SELECT QUANTILE_CONT(age, -0.25) FROM patients;

-- case: percents
-- outcome: refused D205 at 1:24
SELECT PERCENTILE_CONT(95) WITHIN GROUP (ORDER BY age) FROM patients;

-- case: one of a list
-- outcome: refused D205 at 1:33
SELECT QUANTILE_DISC(age, [0.5, 2]) FROM patients;

-- case: an empty list
-- outcome: refused D205
-- instead: SELECT QUANTILE_DISC(age, [0.25, 0.75]) FROM patients
SELECT QUANTILE_DISC(age, []) FROM patients;

-- case: a place that differs from row to row
-- outcome: refused D205 at 1:27
SELECT QUANTILE_CONT(age, children) FROM patients;

-- case: a place that is no number
-- outcome: refused D205 at 1:32
SELECT sex, QUANTILE_CONT(age, 'half') AS q FROM patients GROUP BY sex;

-- case: no place at all
-- outcome: refused D205
-- instead: SELECT QUANTILE_CONT(age, 0.9) FROM patients
SELECT QUANTILE_CONT(age, NULL) FROM patients;

-- case: the median of texts
-- outcome: refused D205 at 1:15
SELECT MEDIAN(city) FROM patients;

-- case: a quantile of texts
-- outcome: refused D205 at 1:22
SELECT QUANTILE_DISC(city, 0.5) FROM patients;

-- case: the greatest of texts
-- outcome: refused D205 at 1:12
-- instead: SELECT city, COUNT(*) AS n FROM patients GROUP BY city
SELECT MAX(city) FROM patients;

-- case: the least of conditions
-- outcome: refused D205 at 1:12
-- instead: SELECT AVG(CASE WHEN insured THEN 1 ELSE 0 END) FROM patients
SELECT MIN(insured) FROM patients;

-- case: halfway between one unit's days
-- outcome: refused D205 at 1:42
-- instead: SELECT COUNT(m) FROM (SELECT patient_id, QUANTILE_DISC(visited_on, 0.5) AS m FROM visits GROUP BY patient_id)
SELECT COUNT(m) FROM (SELECT patient_id, MEDIAN(visited_on) AS m FROM visits GROUP BY patient_id);
