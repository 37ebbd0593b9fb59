-- D105: pieces of syntax that are not on the list of what we read.

-- case: a column by its number
-- outcome: refused D105 at 1:8
-- instead: SELECT SUM(age) FROM patients
SELECT SUM(#3) FROM patients;

-- case: an aggregate written as a method
-- outcome: refused D105 at 1:8
-- instead: SELECT SUM(income) FROM patients
SELECT income.sum() FROM patients;

-- case: an aggregate with its schema
-- outcome: refused D105 at 1:8
SELECT main.sum(income) FROM patients;

-- case: an aggregate with its database and schema
-- outcome: refused D105 at 1:8
SELECT system.main.any_value(income) FROM patients;

-- case: a sample of the table
-- outcome: refused D105 at 1:43
-- instead: SELECT COUNT(*) FROM patients
SELECT COUNT(*) FROM patients TABLESAMPLE 50%;

-- case: a sample with a seed
-- outcome: refused D105 at 1:54
SELECT COUNT(*) FROM patients USING SAMPLE reservoir(5 ROWS) REPEATABLE (42);

-- case: a collation
-- outcome: refused D105 at 1:8
-- instead: SELECT lower(city) AS city, COUNT(*) FROM patients GROUP BY 1
SELECT city COLLATE NOCASE AS city, COUNT(*) FROM patients GROUP BY 1;

-- case: a field of a whole row
-- outcome: refused D105 at 1:13
-- instead: SELECT SUM(p.income) FROM patients p
SELECT SUM((p).income) FROM patients p;

-- case: rows to be changed
-- outcome: refused D105 at 1:8
-- instead: SELECT SUM(age) FROM patients WHERE smoker
SELECT SUM(age) FROM patients WHERE smoker FOR UPDATE;

-- case: an aggregate of every column
-- outcome: refused D105 at 1:12
-- instead: SELECT SUM(cost), SUM(minutes) FROM visits
SELECT SUM(COLUMNS(*)) FROM visits;

-- case: columns of a release by a pattern
-- outcome: refused D105 at 1:8
SELECT COLUMNS('n.*') FROM (SELECT COUNT(*) AS n FROM patients);

-- case: a star with a pattern
-- outcome: refused D105 at 1:8
SELECT * LIKE 'n%' FROM (SELECT COUNT(*) AS n FROM patients);

-- case: a star with a pattern that folds case
-- outcome: refused D105 at 1:8
-- instead: SELECT n FROM (SELECT SUM(age) AS n FROM patients)
SELECT * ILIKE 'n%' FROM (SELECT SUM(age) AS n FROM patients);

-- case: a count of everything but
-- outcome: refused D105
-- instead: SELECT COUNT(*) FROM patients
SELECT COUNT(* EXCLUDE (age)) FROM patients;

-- case: a sum of columns by a pattern
-- outcome: refused D105 at 1:12
SELECT SUM(COLUMNS('in.*')) FROM patients;

-- case: a function of a list
-- outcome: refused D105 at 1:51
-- instead: SELECT SUM((1 + age) + (2 + age)) FROM patients
SELECT SUM(list_sum(list_transform([1, 2], lambda x : x + age))) FROM patients;

-- case: a column called all is not ORDER BY ALL
-- outcome: refused D105 at 1:69
-- instead: SELECT ward, COUNT(*) AS "all" FROM patients GROUP BY ward ORDER BY 2
SELECT ward, COUNT(*) AS "all" FROM patients GROUP BY ward ORDER BY "all";

-- case: an item of a column called list
-- outcome: refused D105 at 1:8
-- instead: SELECT list_extract("list", 1) FROM (SELECT [COUNT(*)] AS "list" FROM patients)
SELECT "list"[1] FROM (SELECT [COUNT(*)] AS "list" FROM patients);

-- case: a letter of the word list
-- outcome: refused D105 at 1:14
-- instead: SELECT list_extract(lower('list'), 1), COUNT(*) FROM patients
SELECT lower('list')[1], COUNT(*) FROM patients;

-- case: a cast to an ENUM
-- outcome: refused D105 at 1:23
-- instead: SELECT MIN(CASE ward WHEN 'B' THEN 1 WHEN 'A' THEN 2 END) AS first FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward)
SELECT MIN(ward::ENUM('B', 'A')) AS first FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: a field of a column in parentheses
-- outcome: refused D105 at 1:9
-- instead: SELECT home.town, COUNT(*) FROM answers GROUP BY 1
SELECT (home).town, COUNT(*) FROM answers GROUP BY 1;

-- case: a field of a table's column in parentheses
-- outcome: refused D105 at 1:9
-- instead: SELECT a.home['town'], COUNT(*) FROM answers a GROUP BY 1
SELECT (a.home).town, COUNT(*) FROM answers a GROUP BY 1;
