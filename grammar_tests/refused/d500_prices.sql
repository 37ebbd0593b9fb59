Prices that a query says of itself.

-- case: above the ceiling
-- outcome: refused D502 at 1:16
-- instead: SELECT OPTIONS(epsilon = 5) COUNT(*) FROM patients
SELECT OPTIONS(epsilon = 1000.5) COUNT(*) FROM patients;

-- case: nothing
-- outcome: refused D503 at 1:16
-- instead: SELECT OPTIONS(epsilon = 0.1) COUNT(*), AVG(age) FROM patients
SELECT OPTIONS(epsilon = 0) COUNT(*), AVG(age) FROM patients;

-- case: less than nothing
-- outcome: refused D503 at 1:16
SELECT OPTIONS(epsilon = -1) COUNT(*), AVG(age), ward FROM patients GROUP BY ward;

-- case: a number that is none
-- outcome: refused D503 at 1:16
SELECT OPTIONS(epsilon = 1e999) ward, COUNT(*) FROM patients GROUP BY ward;

-- case: two prices
-- outcome: refused D503 at 1:57
-- instead: SELECT OPTIONS(epsilon = 1) MAX(n) FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)
SELECT OPTIONS(epsilon = 1) MAX(n) FROM (SELECT OPTIONS(epsilon = 2) ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: another price than the call's
-- outcome: refused D503 at 1:16
-- epsilon: 0.5
-- instead: SELECT COUNT(*), city FROM patients GROUP BY city
SELECT OPTIONS(epsilon = 1) COUNT(*), city FROM patients GROUP BY city;

-- case: a delta above the policy's
-- outcome: refused D502 at 1:16
SELECT OPTIONS(delta = 1e-5) city, COUNT(*) FROM patients GROUP BY city;

-- case: a delta below nothing
-- outcome: refused D503 at 1:16
-- instead: SELECT COUNT(*) FROM patients WHERE smoker
SELECT OPTIONS(delta = -0.1) COUNT(*) FROM patients WHERE smoker;

-- case: a delta that shows no group
-- outcome: refused D304 at 1:16
-- instead: SELECT city, AVG(age) FROM patients GROUP BY city
SELECT OPTIONS(delta = 0) city, AVG(age) FROM patients GROUP BY city;

-- case: a price and an accuracy
-- outcome: refused D503 at 1:28
-- instead: SELECT OPTIONS(within = 5) COUNT(*) FROM patients
SELECT OPTIONS(within = 5, epsilon = 1) COUNT(*) FROM patients;

-- case: an accuracy, and the call's price
-- outcome: refused D503 at 1:16
-- epsilon: 0.5
-- instead: SELECT COUNT(*) FROM patients
SELECT OPTIONS(within = 5) COUNT(*) FROM patients;

-- case: two accuracies
-- outcome: refused D503 at 1:56
SELECT OPTIONS(within = 5) MAX(n) FROM (SELECT OPTIONS(within = 6) ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: an accuracy above the ceiling
-- outcome: refused D502 at 1:16
-- instead: SELECT OPTIONS(within = 400000, confidence = 0.99) SUM(cost) FROM visits
SELECT OPTIONS(within = 500, confidence = 0.99) SUM(cost) FROM visits;

-- case: an epsilon too small for a choice
-- outcome: refused D503 at 1:49
-- policy: pure.toml
-- instead: SELECT OPTIONS(epsilon = 0.1) MEDIAN(age) FROM patients
SELECT OPTIONS(epsilon = 0.000000000001) MEDIAN(age) FROM patients;
