-- What an earlier stage may hand down: a release of a view, a stage in a stage, one named twice.

-- case: tied to a release of a view
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE (SELECT MAX(n) FROM ward_sizes s WHERE s.ward = p.ward) > 10;

-- case: there in a release of a view
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE age > 70 OR EXISTS (SELECT 1 FROM ward_sizes s WHERE s.ward = p.ward AND n > 10);

-- case: without a release of a view
-- outcome: accepted
SELECT COUNT(*) FROM patients p LEFT JOIN ward_sizes s USING (ward) WHERE p.age > s.mean_age OR s.n IS NULL;

-- case: a stage in a stage
-- outcome: accepted
SELECT COUNT(*) FROM patients WHERE age > (SELECT COUNT(*) / 3 FROM patients)
    AND income > (SELECT AVG(income) FROM patients WHERE age > (SELECT AVG(age) FROM patients));

-- case: a stage named twice
-- outcome: accepted
WITH a AS (SELECT AVG(age) AS m FROM patients)
SELECT COUNT(*) FROM patients WHERE age > (SELECT m FROM a) OR age < (SELECT m - 10 FROM a);
