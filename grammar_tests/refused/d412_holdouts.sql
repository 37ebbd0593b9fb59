-- What private holdouts do not answer.

-- case: a count
-- outcome: refused D412 at 1:8
-- instead: SELECT DP_HOLDOUT('again', 40, AVG(age)) FROM patients WHERE age > 20
SELECT DP_HOLDOUT('again', 40, COUNT(*)) FROM patients;

-- case: a number that is computed from a mean
-- outcome: refused D412 at 1:8
SELECT DP_HOLDOUT('again', 40, AVG(age) / 2) FROM patients;

-- case: more rows of a unit than the holdout allows
-- outcome: refused D412
-- instead: SELECT OPTIONS(max_rows_contributed = 1) DP_HOLDOUT('again', 40, AVG(LEAST(cost, 100))) FROM visits
SELECT OPTIONS(max_rows_contributed = 3) DP_HOLDOUT('again', 40, AVG(LEAST(cost, 100))) FROM visits;

-- case: values too far from the public number
-- outcome: refused D412
-- instead: SELECT DP_HOLDOUT('again', 40, AVG(LEAST(cost, 140))) FROM visits
SELECT DP_HOLDOUT('again', 40, AVG(cost)) FROM visits;

-- case: a holdout asked as an alert
-- outcome: refused D412 at 1:8
-- instead: SELECT DP_HOLDOUT('again', 40, AVG(age)) FROM patients
SELECT DP_ABOVE('again', COUNT(age)) FROM patients;

-- case: an alert asked as a holdout
-- outcome: refused D412 at 1:8
-- instead: SELECT DP_ABOVE('crowd', COUNT(*)) FROM patients
SELECT DP_HOLDOUT('crowd', 40, AVG(age)) FROM patients;

-- case: a holdout without a public number
-- outcome: refused D205 at 1:8
-- instead: SELECT DP_HOLDOUT('again', 40, AVG(age)) FROM patients
SELECT DP_HOLDOUT('again', AVG(age)) FROM patients;

-- case: a holdout with a public number of too many digits
-- outcome: refused D205 at 1:8
-- instead: SELECT DP_HOLDOUT('again', 40, AVG(age)) FROM patients WHERE smoker
SELECT DP_HOLDOUT('again', 1e-999999999, AVG(age)) FROM patients WHERE smoker;

-- case: a holdout with a public number beyond all values
-- outcome: refused D205 at 1:8
-- instead: SELECT DP_HOLDOUT('again', 40, AVG(age)) FROM patients WHERE NOT smoker
SELECT DP_HOLDOUT('again', 1e400, AVG(age)) FROM patients WHERE NOT smoker;
