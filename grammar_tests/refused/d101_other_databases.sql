-- D101: syntax that other databases read, and clauses that stand elsewhere here.

-- case: RLIKE between its sides
-- outcome: refused D101 at 1:42
-- instead: SELECT COUNT(*) FROM patients WHERE regexp_matches(city, 'o.*')
SELECT COUNT(*) FROM patients WHERE city RLIKE 'o.*';

-- case: the first rows in per cent
-- outcome: refused D101 at 1:12
-- instead: SELECT ward, COUNT(*) AS n FROM patients WHERE ward IS NOT NULL GROUP BY ward ORDER BY n LIMIT 50%
SELECT TOP 50 PERCENT ward, COUNT(*) AS n FROM patients WHERE ward IS NOT NULL GROUP BY ward ORDER BY n;

-- case: a limit after an offset
-- outcome: refused D101 at 1:77
-- instead: SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward LIMIT 2 OFFSET 1
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward LIMIT 1, 2;

-- case: names in backticks
-- outcome: refused D101 at 1:13
-- instead: SELECT "ward", COUNT(*) FROM "patients" GROUP BY 1
SELECT `ward`, COUNT(*) FROM `patients` GROUP BY 1;

-- case: a difference of sets by its other name
-- outcome: refused D101 at 1:42
-- instead: SELECT DISTINCT ward FROM patients EXCEPT SELECT ward FROM wards
SELECT DISTINCT ward FROM patients MINUS SELECT ward FROM wards;

-- case: a comment of one sign
-- outcome: refused D101 at 1:31
-- instead: SELECT COUNT(*) FROM patients -- all of them
SELECT COUNT(*) FROM patients # all of them;

-- case: conditions joined by signs
-- outcome: refused D101
-- instead: SELECT COUNT(*) FROM patients WHERE sex = 'F' AND age > 30
SELECT COUNT(*) FROM patients WHERE sex = 'F' && age > 30;

-- case: a date of ODBC
-- outcome: refused D101 at 1:51
-- instead: SELECT COUNT(*) FROM visits WHERE visited_on > DATE '2022-01-01'
SELECT COUNT(*) FROM visits WHERE visited_on > {d '2022-01-01'};

-- case: values by their codes
-- outcome: refused D101 at 1:33
-- instead: SELECT SUM(CASE sex WHEN 'F' THEN 1 ELSE 0 END) FROM patients
SELECT SUM(DECODE(sex, 'F', 1, 0)) FROM patients;

-- case: bounds in an order
-- outcome: refused D101 at 1:57
-- instead: SELECT QUANTILE_CONT(cost CLAMPED BETWEEN 0 AND 500, 0.5) FROM visits
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost CLAMPED BETWEEN 0 AND 500) FROM visits;

-- case: options at the end
-- outcome: refused D101 at 1:51
-- instead: SELECT OPTIONS(epsilon = 0.5) ward, COUNT(*) FROM patients GROUP BY ward
SELECT ward, COUNT(*) FROM patients GROUP BY ward OPTIONS(epsilon = 0.5);

-- case: options behind the table
-- outcome: refused D101 at 1:47
-- instead: SELECT OPTIONS(epsilon = 0.5) COUNT(*) FROM patients
SELECT COUNT(*) FROM patients OPTIONS(epsilon = 0.5);
