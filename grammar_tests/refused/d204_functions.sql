-- D204: no such function.

-- case: a name from a spreadsheet
-- outcome: refused D204 at 1:8
SELECT average(age) FROM patients;

-- case: a name with a slip
-- outcome: refused D204 at 1:12
SELECT SUM(rond(cost, 2)) FROM visits;

-- case: a name in quotes
-- outcome: refused D204 at 1:12
SELECT SUM("no such"(age)) FROM patients;

-- case: a slip in a release's own expression
-- outcome: refused D204 at 1:8
SELECT flor(COUNT(*) / 2) FROM patients;

-- case: a name from another database
-- outcome: refused D204 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE age % 2 = 1
SELECT COUNT(*) FROM patients WHERE isodd(age);
