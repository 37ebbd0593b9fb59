-- What private alerts do not answer, and statements about them that say too little.

-- case: an average
-- outcome: refused D412 at 1:8
-- instead: SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients WHERE age > 20
SELECT DP_ABOVE('crowd', AVG(age)) FROM patients;

-- case: a number that is computed from a count
-- outcome: refused D412 at 1:8
SELECT DP_ABOVE('crowd', COUNT(*) / 2) FROM patients;

-- case: more rows of a unit than the alert allows
-- outcome: refused D412
-- instead: SELECT OPTIONS(max_rows_contributed = 1) DP_ABOVE('crowd', COUNT(*)) FROM visits
SELECT OPTIONS(max_rows_contributed = 3) DP_ABOVE('crowd', COUNT(*)) FROM visits;

-- case: a sum of larger values
-- outcome: refused D412
-- instead: SELECT DP_ABOVE('crowd', SUM(LEAST(age, 1))) FROM patients
SELECT DP_ABOVE('crowd', SUM(age)) FROM patients;

-- case: a sum of values that may be negative
-- outcome: refused D412
-- instead: SELECT DP_ABOVE('crowd', SUM(GREATEST(LEAST(age - 40, 1), 0))) FROM patients
SELECT DP_ABOVE('crowd', SUM(GREATEST(LEAST(age - 40, 1), -1))) FROM patients;

-- case: a number that is raised to 0
-- outcome: refused D412 at 1:16
-- instead: SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients
SELECT OPTIONS(non_negative = true) DP_ABOVE('crowd', COUNT(*)) FROM patients;

-- case: a number of public rows
-- outcome: refused D412 at 1:8
-- instead: SELECT COUNT(*) > 100 FROM wards
SELECT DP_ABOVE('crowd', COUNT(*)) FROM wards;

-- case: a number of a private view
-- outcome: refused D412 at 1:8
-- instead: SELECT SUM(n) >= 100 FROM headcounts
SELECT DP_ABOVE('crowd', COUNT(*)) FROM headcounts;

-- case: a number that reads a release
-- outcome: refused D412 at 1:8
SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients WHERE age > (SELECT AVG(age) FROM patients);

-- case: a clip that would be found
-- outcome: refused D412 at 1:45
-- instead: SELECT DP_ABOVE('crowd', COUNT(*)) FROM visits
SELECT OPTIONS(max_rows_contributed = auto) DP_ABOVE('crowd', COUNT(*)) FROM visits;

-- case: a question with a price
-- outcome: refused D503 at 1:16
-- instead: SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients
SELECT OPTIONS(epsilon = 1.5) DP_ABOVE('crowd', COUNT(*)) FROM patients;

-- case: an outcome in a subquery
-- outcome: refused D252 at 1:23
-- instead: SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients WHERE age > 30
SELECT * FROM (SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients);

-- case: groups
-- outcome: refused D252 at 1:8
SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients GROUP BY sex;

-- case: an alert without its number
-- outcome: refused D205 at 1:8
-- instead: SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients WHERE age > 40
SELECT DP_ABOVE('crowd') FROM patients;

-- case: an alert that nobody created
-- outcome: refused D201 at 1:8
-- instead: SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients WHERE age > 50
SELECT DP_ABOVE('crowds', COUNT(*)) FROM patients;

-- case: an alert that nobody created, and no name that is like it
-- outcome: refused D201 at 1:8
-- instead: CREATE PRIVATE ALERT d201_a WITH (epsilon = 0.1, above = 100)
SELECT DP_ABOVE('zzz', COUNT(*)) FROM visits WHERE minutes > 5;

-- case: an alert without a threshold
-- outcome: refused D105 at 1:22
-- instead: CREATE PRIVATE ALERT d105_c WITH (epsilon = 0.1, above = 100, times = 1, max_rows = 1, upper = 1)
CREATE PRIVATE ALERT a WITH (epsilon = 0.1);

-- case: an option that alerts have not
-- outcome: refused D105 at 1:43
-- instead: CREATE PRIVATE ALERT d105_d WITH (epsilon = 0.1, above = 100, times = 1, max_rows = 1, upper = 1)
CREATE PRIVATE ALERT a WITH (above = 100, below = 50);

-- case: half a true
-- outcome: refused D105
-- instead: CREATE PRIVATE ALERT d105_e WITH (epsilon = 0.1, above = 100, times = 3)
CREATE PRIVATE ALERT a WITH (above = 100, times = 2.5);

-- case: a range that excludes 0
-- outcome: refused D105
-- instead: CREATE PRIVATE ALERT d105_f WITH (epsilon = 0.1, above = 100, upper = 20)
CREATE PRIVATE ALERT a WITH (above = 100, lower = 10, upper = 20);

-- case: a range of nothing
-- outcome: refused D105
-- instead: CREATE PRIVATE ALERT d105_g WITH (epsilon = 0.1, above = 100, upper = 500, lower = -500)
CREATE PRIVATE ALERT a WITH (above = 100, upper = -1);

-- case: the name of another alert of one's own
-- outcome: refused D411 at 1:22
-- instead: CREATE PRIVATE ALERT d411_a WITH (epsilon = 0.1, above = 10)
CREATE PRIVATE ALERT crowd WITH (epsilon = 0.1, above = 10);

-- case: a statement that does not end
-- outcome: refused D101
-- instead: CREATE PRIVATE ALERT d101_a WITH (epsilon = 0.1, above = 100, times = 1, max_rows = 1, upper = 1)
CREATE PRIVATE ALERT a (above = 100);
