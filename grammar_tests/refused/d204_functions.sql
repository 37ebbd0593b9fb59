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

-- case: a word of the grammar in quotes, which would drop its argument
-- outcome: refused D204 at 1:35
-- instead: SELECT COUNT(*) FROM visits WHERE CURRENT_DATE > DATE '2024-01-01'
SELECT COUNT(*) FROM visits WHERE "current_date"(day) > DATE '2024-01-01';

-- case: the same in capitals
-- outcome: refused D204 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE age > 30 AND city = 'Oslo'
SELECT COUNT(*) FROM patients WHERE "AND"(age > 30, city = 'Oslo');

-- case: a slip in a release's own expression
-- outcome: refused D204 at 1:8
SELECT flor(COUNT(*) / 2) FROM patients;

-- case: a name from another database
-- outcome: refused D204 at 1:37
-- instead: SELECT COUNT(*) FROM patients WHERE age % 2 = 1
SELECT COUNT(*) FROM patients WHERE isodd(age);

-- case: of PostgreSQL, whose format would be dropped
-- outcome: refused D204 at 1:8
-- instead: SELECT printf('%d', n) FROM (SELECT COUNT(*) AS n FROM patients)
SELECT to_char(n, '999') FROM (SELECT COUNT(*) AS n FROM patients);

-- case: of PostgreSQL, with units of time
-- outcome: refused D204 at 1:8
-- instead: SELECT INTERVAL '1' DAY
SELECT make_interval(days => 1);
