The clause, and what stands around it, in the wrong place or shape.

-- case: no columns behind the clause
-- outcome: refused D101 at 1:8
SELECT OPTIONS(epsilon = 1) FROM patients;

-- case: no columns in a subquery
-- outcome: refused D101 at 1:19
SELECT 1, (SELECT OPTIONS(epsilon = 1));

-- case: another word behind SELECT WITH
-- outcome: refused D101 at 1:8
-- instead: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) FROM patients
SELECT WITH ANONYMIZATION OPTIONS(epsilon = 1) COUNT(*) FROM patients;

-- case: an arrow for an equals sign
-- outcome: refused D101 at 1:16
SELECT OPTIONS(epsilon => 1) COUNT(*) FROM patients;

-- case: a name without a value
-- outcome: refused D101 at 1:16
-- instead: SELECT OPTIONS(epsilon = 0.1) COUNT(*) FROM patients
SELECT OPTIONS(epsilon) COUNT(*) FROM patients;

-- case: an option missing between commas
-- outcome: refused D101 at 1:26
-- instead: SELECT OPTIONS(epsilon = 1) COUNT(*) FROM patients
SELECT OPTIONS(epsilon = 1, , delta = 0) COUNT(*) FROM patients;

-- case: the clause behind DISTINCT
-- outcome: refused D204 at 1:17
-- instead: SELECT OPTIONS(epsilon = 1) DISTINCT ward FROM patients
SELECT DISTINCT OPTIONS(epsilon = 1) ward FROM patients;

-- case: a text as a price
-- outcome: refused D503 at 1:16
SELECT OPTIONS(epsilon = '1') COUNT(*) FROM patients;

-- case: bounds that are columns
-- outcome: refused D101 at 1:16
-- instead: SELECT SUM(age CLAMPED BETWEEN 0 AND 500) FROM patients
SELECT SUM(age CLAMPED BETWEEN children AND 10) FROM patients;

-- case: one bound alone
-- outcome: refused D101
SELECT SUM(age, contribution_bounds_per_group => 100) FROM patients;

-- case: bounds said twice
-- outcome: refused D101 at 1:43
-- instead: SELECT SUM(score CLAMPED BETWEEN 0 AND 9) FROM patients
SELECT SUM(score CLAMPED BETWEEN 0 AND 9, contribution_bounds_per_row => (0, 9)) FROM patients;

-- case: bounds of no aggregate
-- outcome: refused D101
SELECT ROUND(age CLAMPED BETWEEN 0 AND 9) FROM patients;
