-- D205: SQL above a release that fails whatever is released.

-- case: a private key of numbers beside a text
-- outcome: refused D205
-- instead: SELECT * FROM (SELECT length(city) AS size, COUNT(*) AS n FROM patients GROUP BY size) WHERE size = 7
SELECT * FROM (SELECT length(city) AS size, COUNT(*) AS n FROM patients GROUP BY size) WHERE size = 'seven';

-- case: a private key of numbers beside a text, in HAVING
-- outcome: refused D205
SELECT length(city) AS size, COUNT(*) AS n FROM patients GROUP BY size HAVING size = 'seven';

-- case: a default of an ENUM that is no member of it
-- outcome: refused D205
-- instead: SELECT LAG(blood::VARCHAR, 1, 'none') OVER (ORDER BY blood) AS before FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood)
SELECT LAG(blood, 1, 'none') OVER (ORDER BY blood) AS before FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood);

-- case: a sum of an ENUM
-- outcome: refused D205
-- instead: SELECT SUM(enum_code(blood)) AS codes FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood)
SELECT SUM(blood) AS codes FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood);
