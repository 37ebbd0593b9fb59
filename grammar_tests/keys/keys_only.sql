-- Releases that are nothing but keys.

-- case: distinct values of a public key
-- outcome: accepted
SELECT DISTINCT ward FROM patients;

-- case: distinct values of a private key
-- outcome: accepted
SELECT DISTINCT city FROM patients;

-- case: a group without an aggregate
-- outcome: accepted
SELECT city FROM patients GROUP BY city;

-- case: distinct pairs
-- outcome: accepted
SELECT DISTINCT sex, insured FROM patients WHERE age > 20;

-- case: distinct expressions
-- outcome: accepted
SELECT DISTINCT lower(city) AS city FROM patients ORDER BY city;

-- case: distinct keys of a join
-- outcome: accepted
SELECT DISTINCT t.drug FROM treatments t JOIN visits v USING (visit_id) WHERE v.kind = 'surgery';

-- case: how many distinct keys there are
-- outcome: accepted
SELECT COUNT(*) AS cities FROM (SELECT DISTINCT city FROM patients);

-- case: distinct keys that a public table explains
-- outcome: accepted
SELECT k.ward, w.floor FROM (SELECT DISTINCT ward FROM patients) AS k JOIN wards w ON w.ward = k.ward;

-- case: keys sought by a group without an aggregate and a condition
-- outcome: accepted
SELECT drug FROM treatments WHERE dose > 20 GROUP BY drug HAVING COUNT(*) > 4 ORDER BY drug DESC;
