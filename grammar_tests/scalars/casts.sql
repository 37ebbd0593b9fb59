-- Casts, which may fail and must not.

-- case: a number as another number
-- outcome: accepted
SELECT SUM(income::INTEGER) AS a, SUM(CAST(height AS DOUBLE)) AS b, SUM(age::DECIMAL(10, 1)) AS c FROM patients;

-- case: a narrower integer
-- outcome: accepted
SELECT SUM(minutes::SMALLINT) AS a, SUM(TRY_CAST(minutes AS TINYINT)) AS b FROM visits WHERE minutes < 100;

-- case: a text as a number
-- outcome: accepted
SELECT SUM(COALESCE(TRY_CAST(city AS SMALLINT), 1)) AS x, COUNT(TRY_CAST(city AS INTEGER)) AS n FROM patients;

-- case: a number as a text
-- outcome: accepted
SELECT age::VARCHAR AS age, COUNT(*) AS n FROM patients GROUP BY 1;

-- case: a text that grows in a number
-- outcome: accepted
SELECT SUM(GREATEST(LEAST((age::VARCHAR || '000000')::BIGINT, 50000000), 0)) AS x FROM patients;

-- case: rounding beyond a bound
-- outcome: accepted
SELECT SUM(income::DECIMAL(18, 2)) AS cents, SUM(income::FLOAT) AS rough FROM patients;

-- case: a boolean as a text and a text as a boolean
-- outcome: accepted
SELECT smoker::VARCHAR AS smoker, COUNT(*) AS n FROM patients WHERE CAST('true' AS BOOLEAN) GROUP BY 1;

-- case: an enum as a text
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE blood::VARCHAR = 'A' OR blood = 'B' OR blood IN ('AB', '0');

-- case: a clamp after the last cast
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(CAST(score AS INTEGER), -4), 4)) AS x FROM patients WHERE score = score;

-- case: a cast that fails for some, behind a condition
-- outcome: accepted
SELECT COUNT(CASE WHEN length(city) > 9 THEN CAST(city AS INTEGER) ELSE 1 END) AS n FROM patients;
