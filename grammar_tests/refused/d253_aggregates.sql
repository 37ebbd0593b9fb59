-- D253: aggregates that are not answered, because they give back raw values or because they are still to come.

-- case: a sum of distinct values
-- outcome: refused D253 at 1:8
-- instead: SELECT SUM(income) FROM (SELECT DISTINCT patient_id, income FROM patients)
SELECT SUM(DISTINCT income) FROM patients;

-- case: a mean of distinct values by group
-- outcome: refused D253 at 1:14
-- instead: SELECT kind, AVG(cost) FROM (SELECT DISTINCT patient_id, kind, cost FROM visits) GROUP BY kind
SELECT kind, AVG(DISTINCT cost) FROM visits GROUP BY kind;

-- case: a variance of distinct values
-- outcome: refused D253 at 1:8
-- instead: SELECT VAR_POP(age) FROM (SELECT age, COUNT(*) AS n FROM patients GROUP BY age HAVING COUNT(*) > 0)
SELECT VAR_POP(DISTINCT age) FROM patients;

-- case: a skewness
-- outcome: refused D253 at 1:8
-- instead: SELECT DP_SAMPLE(skewness(age), -5, 5) FROM patients
SELECT skewness(age) FROM patients;

-- case: any value at all
-- outcome: refused D253 at 1:8
-- instead: SELECT city, COUNT(*) AS n FROM patients GROUP BY city
SELECT any_value(city) FROM patients;

-- case: the first value
-- outcome: refused D253 at 1:8
-- instead: SELECT m, COUNT(*) AS n FROM (SELECT patient_id, FIRST(income ORDER BY born) AS m FROM patients GROUP BY patient_id) GROUP BY m
SELECT first(income) FROM patients;

-- case: the value beside the largest
-- outcome: refused D253 at 1:8
-- instead: SELECT m, COUNT(*) AS n FROM (SELECT patient_id, ARG_MAX(kind, cost) AS m FROM visits GROUP BY patient_id) GROUP BY m
SELECT arg_max(city, income) FROM patients;

-- case: all values as a list
-- outcome: refused D253 at 1:8
-- instead: SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC
SELECT list(age) FROM patients;

-- case: all values as a text
-- outcome: refused D253 at 1:8
-- instead: SELECT city FROM patients GROUP BY city
SELECT string_agg(city, ', ') FROM patients;

-- case: the most frequent of values that nobody declared
-- outcome: refused D253 at 1:13
-- instead: SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC LIMIT 1
SELECT mode(city) FROM patients;

-- case: the three largest
-- outcome: refused D253 at 1:8
-- instead: SELECT MAX(income) FROM patients
SELECT max(income, 3) FROM patients;

-- case: all of them
-- outcome: refused D253 at 1:14
-- instead: SELECT ward, COUNT(*) FILTER (WHERE NOT smoker) FROM patients GROUP BY ward
SELECT ward, bool_and(smoker) FROM patients GROUP BY ward;

-- case: somebody, of many rows of each
-- outcome: refused D253 at 1:8
-- instead: SELECT AVG(CASE WHEN m THEN 1 ELSE 0 END) FROM (SELECT patient_id, BOOL_OR(urgent) AS m FROM visits GROUP BY patient_id)
SELECT bool_or(urgent) FROM visits;

-- case: somebody at all
-- outcome: refused D253 at 1:8
-- instead: SELECT COUNT(*) FILTER (WHERE city = 'Longyearbyen') FROM patients
SELECT bool_or(city = 'Longyearbyen') FROM patients;

-- case: all bits together
-- outcome: refused D253 at 1:8
SELECT bit_xor(age) FROM patients;

-- case: per unit, the first row in no order
-- outcome: refused D253 at 1:40
-- instead: SELECT SUM(c) FROM (SELECT patient_id, FIRST(cost ORDER BY visited_on) AS c FROM visits GROUP BY patient_id)
SELECT SUM(c) FROM (SELECT patient_id, first(cost) AS c FROM visits GROUP BY patient_id);

-- case: per unit, all values as a list
-- outcome: refused D253 at 1:42
-- instead: SELECT COUNT(c) FROM (SELECT patient_id, STRING_AGG(kind, ',' ORDER BY cost) AS c FROM visits GROUP BY patient_id)
SELECT COUNT(c) FROM (SELECT patient_id, list(kind ORDER BY cost) AS c FROM visits GROUP BY patient_id);

-- case: per unit, all values as a text in no order
-- outcome: refused D253 at 1:42
-- instead: SELECT COUNT(c) FROM (SELECT patient_id, STRING_AGG(kind, ',' ORDER BY cost) AS c FROM visits GROUP BY patient_id)
SELECT COUNT(c) FROM (SELECT patient_id, string_agg(kind, ',') AS c FROM visits GROUP BY patient_id);

-- case: per unit, distinct values as a text
-- outcome: refused D253 at 1:42
-- instead: SELECT COUNT(c) FROM (SELECT patient_id, STRING_AGG(kind, ',' ORDER BY kind) AS c FROM (SELECT DISTINCT patient_id, kind FROM visits) GROUP BY patient_id)
SELECT COUNT(c) FROM (SELECT patient_id, string_agg(DISTINCT kind, ',' ORDER BY kind) AS c FROM visits GROUP BY patient_id);

-- case: per unit, the two kinds of the dearest visits
-- outcome: refused D253 at 1:42
-- instead: SELECT COUNT(c) FROM (SELECT patient_id, ARG_MAX(kind, cost) AS c FROM visits GROUP BY patient_id)
SELECT COUNT(c) FROM (SELECT patient_id, arg_max(kind, cost, 2) AS c FROM visits GROUP BY patient_id);

-- case: per unit, the mode of distinct values
-- outcome: refused D253 at 1:42
-- instead: SELECT COUNT(c) FROM (SELECT patient_id, MODE(kind) AS c FROM visits GROUP BY patient_id)
SELECT COUNT(c) FROM (SELECT patient_id, MODE(DISTINCT kind) AS c FROM visits GROUP BY patient_id);

-- case: a mode in an order
-- outcome: refused D253 at 1:8
-- instead: SELECT MODE(ward) FROM patients
SELECT MODE(ward ORDER BY age) FROM patients;

-- case: a mode within a group
-- outcome: refused D253 at 1:8
-- instead: SELECT MODE(ward) FROM patients
SELECT MODE() WITHIN GROUP (ORDER BY ward DESC) FROM patients;

-- case: distinct pairs of values
-- outcome: refused D253 at 1:8
-- instead: SELECT COUNT(DISTINCT city || ward) FROM patients
SELECT COUNT(DISTINCT city, ward) FROM patients;

-- case: the spread of distinct values in one step
-- outcome: refused D253 at 1:40
-- instead: SELECT AVG(v) FROM (SELECT patient_id, VAR_POP(cost) AS v FROM (SELECT DISTINCT patient_id, cost FROM visits) GROUP BY patient_id)
SELECT AVG(v) FROM (SELECT patient_id, VAR_POP(DISTINCT cost) AS v FROM visits GROUP BY patient_id);

-- case: a median of distinct values
-- outcome: refused D253 at 1:8
-- instead: SELECT MEDIAN(minutes) FROM (SELECT DISTINCT patient_id, minutes FROM visits)
SELECT MEDIAN(DISTINCT minutes) FROM visits;

-- case: any value of a public column that the keys do not determine
-- outcome: refused D253 at 1:17
-- instead: SELECT w.ward, ANY_VALUE(w.beds) AS beds, COUNT(*) AS n FROM patients p JOIN wards w USING (ward) GROUP BY w.ward
SELECT w.floor, ANY_VALUE(w.beds), COUNT(*) FROM patients p JOIN wards w USING (ward) GROUP BY w.floor;
