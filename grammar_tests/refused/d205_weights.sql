-- Weights that are no weights.

-- case: one number
-- outcome: refused D205 at 1:16
-- instead: SELECT OPTIONS(weights = [1, 2]) COUNT(*), SUM(age) FROM patients
SELECT OPTIONS(weights = 1) COUNT(*), SUM(age) FROM patients;

-- case: a negative weight
-- outcome: refused D205 at 1:16
SELECT OPTIONS(weights = [1, -2]) COUNT(*), SUM(age) FROM patients;

-- case: a weight of nothing
-- outcome: refused D205 at 1:16
SELECT OPTIONS(weights = [0, 2]) COUNT(*), SUM(age) FROM patients;

-- case: a weight without end
-- outcome: refused D205 at 1:16
SELECT OPTIONS(weights = [1, 1e999]) COUNT(*), SUM(age) FROM patients;

-- case: no weights
-- outcome: refused D205 at 1:16
SELECT OPTIONS(weights = []) COUNT(*), SUM(age) FROM patients;

-- case: a word among weights
-- outcome: refused D205 at 1:16
SELECT OPTIONS(weights = [1, 'more']) COUNT(*), SUM(age) FROM patients;

-- case: fewer weights than aggregates
-- outcome: refused D205 at 1:16
-- instead: SELECT OPTIONS(weights = [1, 4]) COUNT(*), SUM(age) FROM patients
SELECT OPTIONS(weights = [1]) COUNT(*), SUM(age) FROM patients;

-- case: more weights than aggregates
-- outcome: refused D205 at 1:30
SELECT OPTIONS(epsilon = 1,  weights = [1, 2, 3]) ward, COUNT(*), SUM(age) FROM patients GROUP BY ward;

-- case: weights of keys alone
-- outcome: refused D205 at 1:16
SELECT OPTIONS(weights = [1]) ward FROM patients GROUP BY ward;
