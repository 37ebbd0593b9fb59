-- Numbers: arithmetic and what is made of it.

-- case: plus, minus, times
-- outcome: accepted
SELECT SUM(2 * age + height - 1) AS x FROM patients;

-- case: a sign in front
-- outcome: accepted
SELECT SUM(-(-age)) AS x, SUM(+minutes) AS y FROM patients JOIN visits USING (patient_id);

-- case: division by what is never zero
-- outcome: accepted
SELECT AVG(minutes / (1 + cost)) AS x FROM visits;

-- case: division by a constant
-- outcome: accepted
SELECT SUM(income / 12) AS monthly FROM patients;

-- case: whole division and remainder
-- outcome: accepted
SELECT SUM(minutes // 15) AS quarters, SUM(minutes % 15) AS rest FROM visits;

-- case: a square of a difference
-- outcome: accepted
SELECT SUM((age - 50) * (age - 50)) AS squares, AVG(POWER(age - 50, 2)) AS mean_square FROM patients;

-- case: absolute values and signs
-- outcome: accepted
SELECT SUM(ABS(score)) FILTER (WHERE score BETWEEN -2 AND 2) AS size, SUM(SIGN(score)) AS signs FROM patients;

-- case: rounding in four directions
-- outcome: accepted
SELECT SUM(ROUND(cost)) AS a, SUM(FLOOR(cost)) AS b, SUM(CEIL(cost)) AS c, SUM(TRUNC(cost)) AS d FROM visits;

-- case: rounding to two digits
-- outcome: accepted
SELECT SUM(ROUND(cost / 3, 2)) AS thirds FROM visits;

-- case: square roots
-- outcome: accepted
SELECT AVG(SQRT(income)) AS mean_root FROM patients;

-- case: a logarithm away from zero
-- outcome: accepted
SELECT AVG(LN(income + 1)) AS mean_log FROM patients;

-- case: an exponential of a small number
-- outcome: accepted
SELECT AVG(EXP(age / 100)) AS x FROM patients;

-- case: the larger and the smaller of two columns
-- outcome: accepted
SELECT SUM(GREATEST(cost, minutes)) AS larger, SUM(LEAST(cost, minutes, 100)) AS smallest FROM visits;

-- case: a product of columns of three types
-- outcome: accepted
SELECT SUM(age * income * height / 1000000) AS x FROM patients;

-- case: decimal arithmetic
-- outcome: accepted
SELECT SUM(dose * 1.25 - 0.5) AS x, SUM(dose + dose) AS y FROM treatments;

-- case: a product that leaves its integer type
-- outcome: accepted
SELECT SUM(minutes::BIGINT * minutes * 100000) AS x FROM visits;

-- case: a whole division that may meet a zero
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(100 // (age - 65), -100), 100)) AS x, COUNT(age % (age - 65)) AS n FROM patients;
