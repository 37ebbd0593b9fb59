-- D101: the text is not SQL that dpsql can read.

-- case: a misspelled keyword
-- outcome: refused D101 at 1:12
SELEC COUNT(*) FROM patients;

-- case: a parenthesis that never closes
-- outcome: refused D101 at 2:1
SELECT COUNT(*
FROM patients;

-- case: a parenthesis that never opened
-- outcome: refused D101 at 1:44
SELECT COUNT(*) FROM patients WHERE age > 3);

-- case: a text that never ends
-- outcome: refused D101
-- instead: SELECT COUNT(*) FROM patients WHERE ward = 'A'
SELECT COUNT(*) FROM patients WHERE ward = 'A;

-- case: no table after FROM
-- outcome: refused D101 at 1:22
SELECT COUNT(*) FROM WHERE age > 3;

-- case: nothing but a comment
-- outcome: refused D101
-- SELECT COUNT(*) FROM patients

-- case: nothing but a semicolon
-- outcome: refused D101
;

-- case: a condition that is missing
-- outcome: refused D101 at 1:51
SELECT ward, COUNT(*) FROM patients GROUP BY ward HAVING;

-- case: plain words
-- outcome: refused D101 at 1:10
how many patients are older than forty

-- case: a statement that the reader does not even know
-- outcome: refused D101 at 1:17
EXPORT DATABASE 'elsewhere';

-- case: too few arguments
-- outcome: refused D101 at 1:21
SELECT SUM(power(age)) FROM patients;

-- case: a column both left out and replaced
-- outcome: refused D101
SELECT * EXCLUDE (beds) REPLACE (1 AS beds) FROM wards;
