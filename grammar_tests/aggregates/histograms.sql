-- HISTOGRAM over bins that the query lists: counts that share no row.

-- case: ages in bins
-- outcome: accepted
SELECT HISTOGRAM(age, [20, 40, 60]) AS h FROM patients;

-- case: the same without delta, by group
-- outcome: accepted
-- policy: pure.toml
-- oracle: no-meaning (the last bin is always shown, in DuckDB where something is in it)
SELECT sex, HISTOGRAM(age, [20, 40, 60]) AS h, COUNT(*) AS n FROM patients GROUP BY sex;

-- case: real numbers, with a condition
-- outcome: accepted
SELECT histogram(income, [0, 20000.5, 5e4]) FILTER (WHERE smoker) AS h FROM patients;

-- case: decimals and dates
-- outcome: accepted
SELECT HISTOGRAM(height, [150, 170.5]) AS h, HISTOGRAM(born, [DATE '1960-01-01', '1980-01-01']) AS b FROM patients;

-- case: many rows of a patient
-- outcome: accepted
SELECT HISTOGRAM(minutes, [10, 30, 60]) AS h FROM visits;

-- case: one of its bins, above
-- outcome: accepted
SELECT h[40] AS until_40 FROM (SELECT HISTOGRAM(age, [20, 40, 60]) AS h FROM patients);

-- case: public rows, exactly
-- outcome: accepted
SELECT HISTOGRAM(beds, [10, 20]) AS h FROM wards;
