-- D105: pieces of syntax that are not on the list of what we read.

-- case: a column by its number
-- outcome: refused D105 at 1:8
SELECT SUM(#3) FROM patients;

-- case: an aggregate written as a method
-- outcome: refused D105 at 1:8
SELECT income.sum() FROM patients;

-- case: an aggregate with its schema
-- outcome: refused D105 at 1:8
SELECT main.sum(income) FROM patients;

-- case: an aggregate with its database and schema
-- outcome: refused D105 at 1:8
SELECT system.main.any_value(income) FROM patients;

-- case: a sample of the table
-- outcome: refused D105 at 1:43
SELECT COUNT(*) FROM patients TABLESAMPLE 50%;

-- case: a sample with a seed
-- outcome: refused D105 at 1:54
SELECT COUNT(*) FROM patients USING SAMPLE reservoir(5 ROWS) REPEATABLE (42);

-- case: a table made from each row
-- outcome: refused D105 at 1:50
SELECT COUNT(*) FROM patients p, LATERAL (SELECT p.age + 1 AS next_age) AS n;

-- case: columns turned into rows
-- outcome: refused D105 at 1:33
SELECT SUM(value) FROM (UNPIVOT patients ON age, children INTO NAME name VALUE value);

-- case: a collation
-- outcome: refused D105 at 1:8
SELECT city COLLATE NOCASE AS city, COUNT(*) FROM patients GROUP BY 1;

-- case: a field of a whole row
-- outcome: refused D105 at 1:13
SELECT SUM((p).income) FROM patients p;

-- case: rows to be changed
-- outcome: refused D105 at 1:8
SELECT SUM(age) FROM patients WHERE smoker FOR UPDATE;

-- case: a limit in percent
-- outcome: refused D105 at 1:58
WITH half AS (SELECT patient_id, age FROM patients LIMIT 50%) SELECT SUM(age) FROM half;

-- case: the first rows in another spelling
-- outcome: refused D105 at 1:85
SELECT SUM(age) FROM (SELECT patient_id, age FROM patients ORDER BY age FETCH FIRST 5 ROWS ONLY);

-- case: a pivot with its list
-- outcome: refused D105 at 1:60
SELECT * FROM (SELECT ward, sex, age FROM patients) PIVOT (SUM(age) FOR sex IN ('F', 'M'));

