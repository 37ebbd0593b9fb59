-- Weights too far apart.

-- case: a thousand times as exact
-- outcome: refused D305 at 1:16
-- instead: SELECT OPTIONS(weights = [1, 100]) COUNT(*), SUM(age) FROM patients
SELECT OPTIONS(weights = [1, 1000]) COUNT(*), SUM(age) FROM patients;
