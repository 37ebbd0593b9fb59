Clauses in an order that DuckDB does not read.

-- case: WHERE behind GROUP BY
-- outcome: refused D101 at 1:51
SELECT ward, COUNT(*) FROM patients GROUP BY ward WHERE smoker;

-- case: GROUP BY behind HAVING
-- outcome: refused D101 at 1:62
SELECT ward, 'é', COUNT(*) FROM patients HAVING COUNT(*) > 1 GROUP BY ward;

-- case: WHERE behind ORDER BY
-- outcome: refused D101 at 2:1
SELECT COUNT(*) FROM patients ORDER BY 1
WHERE age > 30;

-- case: WHERE behind LIMIT, in a subquery
-- outcome: refused D101 at 2:69
SELECT AVG(n) FROM (
    SELECT ward, COUNT(*) AS n FROM (SELECT * FROM patients LIMIT 3 WHERE age > 3));

-- case: GROUP BY twice
-- outcome: refused D101
SELECT ward, COUNT(*) FROM patients GROUP BY ward GROUP BY sex;

-- case: a select without columns
-- outcome: refused D101
SELECT FROM patients WHERE ward = 'A';

-- case: OPTIONS behind the other clauses
-- outcome: refused D101 at 1:44
-- instead: SELECT OPTIONS(epsilon = 0.5) COUNT(*) FROM patients WHERE smoker
SELECT COUNT(*) FROM patients WHERE smoker OPTIONS(epsilon = 0.5);

-- case: an order behind PIVOT
-- outcome: refused D101 at 1:69
-- instead: FROM (PIVOT patients ON ward IN ('A', 'B') USING COUNT(*) GROUP BY smoker) ORDER BY smoker
PIVOT patients ON ward IN ('A', 'B') USING COUNT(*) GROUP BY smoker ORDER BY smoker;

-- case: TOP
-- outcome: refused D101 at 1:12
-- instead: SELECT COUNT(*) FROM patients LIMIT 4
SELECT TOP 4 COUNT(*) FROM patients;
