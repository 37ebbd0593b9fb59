-- D205: SQL above a release that fails whatever is released.

-- case: a private key of numbers beside a text
-- outcome: refused D205
-- instead: SELECT * FROM (SELECT length(city) AS size, COUNT(*) AS n FROM patients GROUP BY size) WHERE size = 7
SELECT * FROM (SELECT length(city) AS size, COUNT(*) AS n FROM patients GROUP BY size) WHERE size = 'seven';

-- case: a private key of numbers beside a text, in HAVING
-- outcome: refused D205
SELECT length(city) AS size, COUNT(*) AS n FROM patients GROUP BY size HAVING size = 'seven';
