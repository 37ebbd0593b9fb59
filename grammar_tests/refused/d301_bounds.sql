-- D301: a sum needs a finite bound.

-- case: a column without a range
-- outcome: refused D301 at 1:12
SELECT SUM(score) FROM patients;

-- case: the mean of a column without a range
-- outcome: refused D301 at 1:18
SELECT ward, AVG(score) FROM patients GROUP BY ward;

-- case: a ratio whose divisor may be zero
-- outcome: refused D301 at 1:12
-- instead: SELECT SUM(income / age CLAMPED BETWEEN 0 AND 50000) AS rate FROM patients
SELECT SUM(income / age) AS rate FROM patients;

-- case: one by something
-- outcome: refused D301 at 1:12
SELECT AVG(1 / age) FROM patients;

-- case: an exponential that overflows
-- outcome: refused D301 at 1:12
SELECT SUM(exp(income)) FROM patients;

-- case: the logarithm of what may be zero
-- outcome: refused D301 at 1:12
SELECT SUM(ln(age)) FROM patients;

-- case: a product beyond all numbers
-- outcome: refused D301 at 1:12
SELECT SUM(income * 1e308) FROM patients;

-- case: a branch without a bound
-- outcome: refused D301 at 1:38
SELECT SUM(CASE WHEN ward = 'A' THEN score ELSE 0 END) FROM patients;

-- case: a default that leaves no bound
-- outcome: refused D301 at 1:12
SELECT SUM(COALESCE(score, 0)) FROM patients;

-- case: bounded on one side
-- outcome: refused D301 at 1:12
SELECT SUM(GREATEST(score, 0)) FROM patients;

-- case: a range from below alone
-- outcome: refused D301 at 1:12
SELECT SUM(score) FROM patients WHERE score > 0;

-- case: a name that another column's range belonged to
-- outcome: refused D301 at 1:12
SELECT SUM(age) FROM (SELECT patient_id, score AS age FROM patients);

-- case: names exchanged by a column list
-- outcome: refused D301 at 1:12
SELECT SUM(b) FROM (SELECT age, score FROM patients) AS t(a, b);

-- case: a per-unit sum of what has no bound
-- outcome: refused D301 at 1:44
SELECT SUM(total) FROM (SELECT patient_id, SUM(score) AS total FROM patients GROUP BY patient_id);

-- case: a per-unit extreme of what has no bound
-- outcome: refused D301 at 1:12
SELECT AVG(most) FROM (SELECT patient_id, MAX(score) AS most FROM patients GROUP BY patient_id);

-- case: one side of a union without a bound
-- outcome: refused D301 at 1:12
SELECT SUM(x) FROM (SELECT patient_id, age AS x FROM patients UNION ALL SELECT patient_id, score FROM patients);

-- case: a power without a bound
-- outcome: refused D301 at 1:12
SELECT AVG(power(income, age)) FROM patients;

-- case: a number in a text
-- outcome: refused D301 at 1:8
SELECT SUM(city::DOUBLE) FROM patients;

-- case: a clamp before the last step
-- outcome: refused D301 at 1:12
SELECT SUM(LEAST(GREATEST(age, 0), 100) / children) FROM patients;

-- case: a whole number as wide as its type, squared twice
-- outcome: refused D301 at 1:12
SELECT SUM(steps::DOUBLE * steps * steps * steps) FROM visits;

-- case: a column without bounds in a view
-- outcome: refused D301 at 1:18
SELECT ward, SUM(score) FROM adults GROUP BY ward;

-- case: a released sum has no range of its own
-- outcome: refused D301
SELECT SUM(age - (SELECT SUM(age) FROM patients)) FROM patients;

-- case: a condition on two columns narrows neither
-- outcome: refused D301 at 1:41
SELECT SUM(CASE WHEN score > steps THEN score END) FROM patients p JOIN visits v ON p.patient_id = v.patient_id;

-- case: a condition with OR narrows only by both sides
-- outcome: refused D301 at 1:61
SELECT SUM(CASE WHEN score BETWEEN 0 AND 1 OR age > 50 THEN score END) FROM patients;

-- case: one end alone
-- outcome: refused D301 at 1:37
SELECT SUM(CASE WHEN score < 5 THEN score END) FROM patients;

-- case: a NOT that leaves the outside
-- outcome: refused D301 at 1:55
SELECT SUM(CASE WHEN NOT (score BETWEEN 0 AND 1) THEN score END) FROM patients;

-- case: the ELSE of an AND
-- outcome: refused D301 at 1:22
SELECT SUM(CASE WHEN score > 5 AND insured THEN 5 WHEN score < -5 THEN -5 ELSE score END) FROM patients;

-- case: the ELSE of a comparison that may be NULL for another column
-- outcome: refused D301 at 1:22
SELECT SUM(CASE WHEN score > age THEN 5 WHEN score < -5 THEN -5 ELSE score END) FROM patients;

-- case: the ELSE of a comparison with NULL
-- outcome: refused D301 at 1:22
SELECT SUM(CASE WHEN score > NULL THEN 5 WHEN score < -5 THEN -5 ELSE score END) FROM patients;

-- case: a branch that another branch's condition bounds
-- outcome: refused D301 at 1:22
SELECT SUM(CASE WHEN score BETWEEN 0 AND 1 THEN 1 WHEN insured THEN score END) FROM patients;

-- case: a condition outside of the sum's own branch
-- outcome: refused D301 at 1:22
SELECT SUM(CASE WHEN score BETWEEN 0 AND 1 THEN 1 ELSE 0 END * score) FROM patients;

-- case: a ratio whose divisor may still be zero
-- outcome: refused D301 at 1:36
SELECT SUM(CASE WHEN cost > 0 THEN 1 / cost END) FROM visits;

-- case: a condition that is not true of NULL says nothing of the value
-- outcome: refused D301 at 1:22
SELECT SUM(CASE WHEN score IS NULL THEN 0 ELSE score END) FROM patients;

-- case: the distance from a point that is anywhere
-- outcome: refused D301 at 1:12
SELECT SUM(list_distance([score], [0])) FROM patients;

-- case: whichever of an item without bound
-- outcome: refused D301 at 1:13
SELECT SUM([age, score][1 + children]) FROM patients;

-- case: different from a value
-- outcome: refused D301 at 1:12
SELECT SUM(score) FROM patients WHERE score IS DISTINCT FROM 3;

-- case: the spread of a column without a range
-- outcome: refused D301 at 1:15
-- instead: SELECT STDDEV(score CLAMPED BETWEEN -5 AND 5) AS deviation FROM patients
SELECT STDDEV(score) FROM patients;

-- case: a correlation whose second side has no range
-- outcome: refused D301 at 1:18
SELECT CORR(age, score) FROM patients;

-- case: a line over a wide whole number
-- outcome: refused D301 at 1:28
SELECT REGR_SLOPE(minutes, steps) FROM visits;

-- case: the spread of wide whole numbers needs a range
-- outcome: refused D301 at 1:40
-- instead: SELECT AVG(v) FROM (SELECT patient_id, VAR_POP(steps CLAMPED BETWEEN 0 AND 20000) AS v FROM visits GROUP BY patient_id)
SELECT AVG(v) FROM (SELECT patient_id, VAR_POP(steps) AS v FROM visits GROUP BY patient_id);

-- case: a median without a bound
-- outcome: refused D301 at 1:15
-- instead: SELECT MEDIAN(score CLAMPED BETWEEN -10 AND 10) FROM patients
SELECT MEDIAN(score) FROM patients;

-- case: the unit's smallest number by group
-- outcome: refused D301 at 1:18
SELECT ward, MIN(patient_id) FROM patients GROUP BY ward;

-- case: no bound to weigh by
-- outcome: refused D301 at 1:38
-- instead: SELECT OPTIONS(weights = [1, 2]) SUM(score CLAMPED BETWEEN 0 AND 10) AS s, COUNT(*) AS n FROM patients
SELECT OPTIONS(weights = [1, 2]) SUM(score) AS s, COUNT(*) AS n FROM patients;

-- case: the length of a text without a declared length
-- outcome: refused D301 at 1:12
-- instead: SELECT SUM(LEAST(length(city), 40)) FROM patients
SELECT SUM(length(city)) FROM patients;

-- case: the length of a list without a declared length
-- outcome: refused D301 at 1:12
-- instead: SELECT SUM(LEAST(len(allergies), 9)) FROM patients
SELECT AVG(len(allergies)) FROM patients;

-- case: a condition on a computed value leaves one end open
-- outcome: refused D301 at 1:12
-- instead: SELECT SUM(steps * 2) FROM visits WHERE steps * 2 BETWEEN 0 AND 9000
SELECT SUM(steps * 2) FROM visits WHERE steps * 2 > 0;

-- case: a condition on another expression
-- outcome: refused D301 at 1:12
-- instead: SELECT SUM(steps * 2) FROM visits WHERE steps * 2 BETWEEN 0 AND 9000
SELECT SUM(steps * 2) FROM visits WHERE steps * 3 BETWEEN 0 AND 9000;

-- case: a condition on a computed value in one of two arms
-- outcome: refused D301 at 1:12
-- instead: SELECT SUM(steps * 2) FROM visits WHERE steps * 2 BETWEEN 0 AND 9000
SELECT SUM(steps * 2) FROM visits WHERE steps * 2 BETWEEN 0 AND 9000 OR urgent;

-- case: a sum for each patient is no bound by its type alone
-- outcome: refused D301 at 1:12
-- instead: SELECT AVG(total CLAMPED BETWEEN 0 AND 90000) FROM (SELECT patient_id, SUM(steps) AS total FROM visits GROUP BY patient_id)
SELECT AVG(total) FROM (SELECT patient_id, SUM(steps) AS total FROM visits GROUP BY patient_id);

-- case: a field of a struct
-- outcome: refused D301 at 1:12
-- instead: SELECT AVG(home.rooms CLAMPED BETWEEN 0 AND 500) FROM answers
SELECT AVG(home.rooms) FROM answers;

-- case: an item of a list
-- outcome: refused D301 at 1:12
-- instead: SELECT AVG(s CLAMPED BETWEEN 0 AND 500) FROM answers, unnest(scores) AS u(s)
SELECT AVG(s) FROM answers, unnest(scores) AS u(s);
