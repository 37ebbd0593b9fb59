-- D301: a sum needs a finite bound.

-- case: a column without a range
-- outcome: refused D301 at 1:12
SELECT SUM(score) FROM patients;

-- case: the mean of a column without a range
-- outcome: refused D301 at 1:18
SELECT ward, AVG(score) FROM patients GROUP BY ward;

-- case: a ratio whose divisor may be zero
-- outcome: refused D301 at 1:12
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
-- outcome: refused D301 at 1:22
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
