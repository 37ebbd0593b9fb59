-- D106: the parameters do not match the question marks.

-- case: a question mark without a value
-- outcome: refused D106
SELECT COUNT(*) FROM patients WHERE age > ?;

-- case: two question marks without values
-- outcome: refused D106
SELECT COUNT(*) FROM patients WHERE age BETWEEN ? AND ?;

-- case: a numbered parameter
-- outcome: refused D106 at 1:43
SELECT COUNT(*) FROM patients WHERE age > $1;

-- case: a named parameter
-- outcome: refused D106 at 1:44
SELECT COUNT(*) FROM patients WHERE ward = $ward;

-- case: a parameter as limit
-- outcome: refused D106
SELECT ward, COUNT(*) FROM patients GROUP BY ward LIMIT ?;
