-- Conditions on a computed value bound it: an aggregate of the same expression is clipped to what they allow.

-- case: of numbers without a declared range
-- outcome: accepted
SELECT kind, SUM(steps * 2) AS total, AVG(steps * 2) AS mean, MEDIAN(steps * 2) AS middle
FROM visits WHERE steps * 2 BETWEEN -50 AND 9000 GROUP BY kind;

-- case: of floats, texts read as numbers and lengths
-- outcome: accepted
SELECT SUM(score / 3) FILTER (WHERE score / 3 >= -1 AND score / 3 < 4) AS thirds,
    SUM(TRY_CAST(split_part(CAST(score AS VARCHAR), 'e', 1) AS DECIMAL(8, 2)))
        FILTER (WHERE TRY_CAST(split_part(CAST(score AS VARCHAR), 'e', 1) AS DECIMAL(8, 2)) BETWEEN 1 AND 5.55) AS codes,
    AVG(length(city)) FILTER (WHERE length(city) < 12) AS letters
FROM patients;

-- case: of days between two columns
-- outcome: accepted
SELECT AVG(date_diff('day', visited_on, seen_at)) AS days FROM visits
WHERE date_diff('day', visited_on, seen_at) BETWEEN 0 AND 30;

-- case: of the values of each patient
-- outcome: accepted
SELECT AVG(total) AS mean, AVG(first) AS first FROM (
    SELECT patient_id, SUM(steps * 2) AS total, FIRST(steps * 2 ORDER BY seen_at) AS first
    FROM visits WHERE steps * 2 BETWEEN 0 AND 9000 GROUP BY patient_id
);

-- case: one of two arms bounds nothing
-- outcome: accepted
SELECT SUM(age * 2) AS doubled, AVG(age + 1) AS older FROM patients
WHERE (age * 2 BETWEEN 0 AND 60 OR insured) AND (age + 1 < 30 OR ward = 'A');
