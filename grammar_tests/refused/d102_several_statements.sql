-- D102: one statement at a time.

-- case: two queries
-- outcome: refused D102 at 1:32
SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM visits;

-- case: a query and something else
-- outcome: refused D102 at 1:32
SELECT COUNT(*) FROM patients; DROP TABLE patients;

-- case: a setting before the query
-- outcome: refused D102 at 1:18
-- instead: SELECT COUNT(*) FROM patients
SET threads = 1; SELECT COUNT(*) FROM patients;

-- case: a second statement on a line of its own
-- outcome: refused D102 at 4:1
SELECT AVG(age)
FROM patients
;
FROM visits SELECT COUNT(*)

-- case: a transaction around a query
-- outcome: refused D102 at 1:8
BEGIN; SELECT COUNT(*) FROM patients; ROLLBACK;
