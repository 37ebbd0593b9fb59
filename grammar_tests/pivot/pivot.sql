-- PIVOT over a list of values, and UNPIVOT of what is released or public.

-- case: two aggregates for each value
-- outcome: accepted
PIVOT patients ON sex IN ('F', 'M') USING AVG(age) AS mean_age, COUNT(*) GROUP BY ward;

-- case: a count where no aggregate is named
-- outcome: accepted
PIVOT patients ON sex IN ('F', 'M') GROUP BY city;

-- case: one aggregate without a name
-- outcome: accepted
PIVOT visits ON kind IN ('checkup', 'surgery') USING SUM(cost) GROUP BY place_id;

-- case: grouped by the columns that are left
-- outcome: accepted
PIVOT (SELECT ward, sex, age FROM patients) ON sex IN ('F', 'M') USING SUM(age);

-- case: no column is left
-- outcome: accepted
PIVOT (SELECT sex, age FROM patients) ON sex IN ('F', 'M') USING SUM(age) AS total, COUNT(age) AS known;

-- case: two columns of values
-- outcome: accepted
PIVOT (SELECT sex, insured, age FROM patients) ON sex IN (F, M), insured IN (true, false) USING AVG(age);

-- case: numbers, one of them negative
-- outcome: accepted
PIVOT (SELECT minutes // 60 AS hours, cost FROM visits) ON hours IN (0, 1, -1) USING AVG(cost);

-- case: a pivot in FROM
-- outcome: accepted
SELECT * FROM patients PIVOT (SUM(age) FOR sex IN ('F', 'M') GROUP BY ward);

-- case: a pivot of a subquery
-- outcome: accepted
SELECT "F" - "M" AS more FROM (SELECT insured, sex FROM patients) AS p PIVOT (COUNT(*) FOR sex IN ('F', 'M'));

-- case: values with aliases, a second list, and a name for each aggregate
-- outcome: accepted
SELECT *
FROM patients PIVOT (
    SUM(age) AS total, COUNT(*) AS n FOR sex IN ('F' AS f, 'M' AS m) smoker IN (true, false) GROUP BY ward
);

-- case: NULL among the values, and names for the first columns
-- outcome: accepted
FROM visits PIVOT (AVG(minutes) FOR urgent IN (true, false, NULL) GROUP BY kind) AS p(sort, urgent_ones);

-- case: a pivot joined with a public table
-- outcome: accepted
SELECT w.ward, p.f, p.m, w.beds
FROM wards w JOIN patients PIVOT (COUNT(*) FOR sex IN ('F' AS f, 'M' AS m) GROUP BY ward) AS p USING (ward);

-- case: filtered and ordered behind the pivot
-- outcome: accepted
SELECT ward, "F" FROM (PIVOT patients ON sex IN ('F', 'M') USING SUM(income) GROUP BY ward) WHERE "F" > 0 ORDER BY ward;

-- case: rows chosen before the pivot
-- outcome: accepted
WITH grown AS (SELECT * FROM patients WHERE age >= 18)
PIVOT grown ON smoker IN (true, false) USING AVG(income) GROUP BY sex;

-- case: a released table turned
-- outcome: accepted
WITH g AS (SELECT ward, sex, COUNT(*) AS n FROM patients GROUP BY ward, sex)
PIVOT g ON sex IN ('F', 'M') USING FIRST(n);

-- case: a released table turned in FROM
-- outcome: accepted
SELECT sex, "A" + "B" AS both
FROM (SELECT ward, sex, SUM(age) AS age FROM patients GROUP BY ward, sex) PIVOT (MAX(age) FOR ward IN ('A', 'B'));

-- case: a public table turned
-- outcome: accepted
PIVOT places ON kind IN ('hospital', 'clinic') USING COUNT(*) GROUP BY city;

-- case: dates as columns
-- outcome: accepted
PIVOT (SELECT kind, valid_from, fee FROM tariffs) ON valid_from IN (DATE '2022-01-01', DATE '2024-01-01') USING MAX(fee);

-- case: a release with its columns as rows
-- outcome: accepted
UNPIVOT (SELECT sex, COUNT(*) AS n, SUM(age) AS total FROM patients GROUP BY sex) ON n, total INTO NAME what VALUE number;

-- case: a public table with its columns as rows
-- outcome: accepted
SELECT * FROM wards UNPIVOT (number FOR what IN (floor, beds)) WHERE number > 5;

-- case: columns as rows, NULL included
-- outcome: accepted
SELECT u.ward FROM wards UNPIVOT INCLUDE NULLS (number FOR what IN (floor, beds)) AS u WHERE u.number IS NULL;

-- case: a row for each unit, aggregated once more
-- outcome: accepted
SELECT AVG(LEAST(checkup_c, 20)) AS checkups
FROM (PIVOT visits ON kind IN ('checkup') USING COUNT(*) AS c GROUP BY patient_id);

-- case: a row for each unit, joined
-- outcome: accepted
SELECT p.sex, SUM(LEAST(t.c, 5)) AS checkups FROM patients p
JOIN (PIVOT visits ON kind IN ('checkup', 'surgery') USING COUNT(*) AS c GROUP BY patient_id) AS t(patient_id, c, s)
    USING (patient_id)
GROUP BY p.sex;

-- case: units counted
-- outcome: accepted
PIVOT visits ON kind IN ('checkup', 'emergency') USING COUNT(DISTINCT patient_id) GROUP BY place_id;

-- case: another name of an average
-- outcome: accepted
SELECT * FROM (SELECT ward, sex, age FROM patients) PIVOT (mean(age) FOR sex IN ('F', 'M') GROUP BY ward);

-- case: a column for each declared value
-- outcome: accepted
PIVOT visits ON kind USING SUM(cost) GROUP BY place_id;

-- case: a column for each declared value and each truth
-- outcome: accepted
PIVOT (SELECT v.kind, p.insured, v.minutes FROM visits v JOIN patients p USING (patient_id)) ON insured, kind USING AVG(minutes) AS m, COUNT(*) AS n;
