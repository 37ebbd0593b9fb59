-- Which private rows take part.

-- case: comparisons joined by AND
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE age >= 18 AND income < 90000 AND sex <> 'F';

-- case: OR and NOT
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE NOT (ward = 'A' OR age < 20) OR smoker;

-- case: BETWEEN and NOT BETWEEN
-- outcome: accepted
SELECT SUM(income) AS income FROM patients WHERE age BETWEEN 20 AND 60 AND height NOT BETWEEN 160 AND 170;

-- case: a list of texts
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE ward IN ('A', 'C');

-- case: a list that holds NULL
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE ward NOT IN ('A', NULL) OR age IN (NULL, 5, 12);

-- case: tests for NULL
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city IS NULL OR income IS NOT NULL AND ward IS NULL;

-- case: a boolean column alone, tested and negated
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE urgent IS NOT TRUE AND NOT (urgent IS NULL);

-- case: LIKE with both wildcards
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city LIKE '_e%n' OR city NOT LIKE '%o%';

-- case: ILIKE
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city ILIKE 'OS%';

-- case: LIKE with an escape character
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city NOT LIKE '%#%%' ESCAPE '#';

-- case: LIKE with a pattern put together from constants
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city LIKE '%' || 'sl' || '%' OR city ILIKE ('B' || 'er') || '_en';

-- case: IS DISTINCT FROM a value
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE ward IS DISTINCT FROM 'B' AND city IS NOT DISTINCT FROM 'Oslo';

-- case: dates compared with literals
-- outcome: accepted
SELECT COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits WHERE visited_on >= DATE '2022-06-01' AND visited_on < '2023-06-01';

-- case: timestamps compared with literals
-- outcome: accepted
SELECT SUM(minutes) AS minutes FROM visits WHERE seen_at > TIMESTAMP '2023-01-01 12:00:00' AND seen_at <= '2024-01-01';

-- case: a date and a timestamp compared
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE visited_on < seen_at;

-- case: two columns compared
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE minutes > cost OR minutes = steps;

-- case: arithmetic that could divide by zero
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE income / NULLIF(age - 33, 0) > 1000;

-- case: a CASE as condition
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE CASE WHEN sex = 'F' THEN age > 40 ELSE smoker END;

-- case: the unit compared with literals
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(age) AS years FROM patients WHERE patient_id <> 7 AND patient_id NOT IN (3, 5);

-- case: an arithmetic slice of the units
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE patient_id % 2 = 0;

-- case: an alias of the select list
-- outcome: accepted
SELECT SUM(decade) AS decades FROM (SELECT age / 10 AS decade FROM patients WHERE decade > 3);

-- case: a constant condition
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE TRUE AND 1 < 2;

-- case: a condition that is NULL for everybody
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE NULL;

-- case: a list from a public table
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE place_id IN (SELECT place_id FROM places WHERE city = 'Bergen');

-- case: a number from a public table
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(fee) FROM tariffs);

-- case: infinities and numbers that are none
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE income < 'Infinity'::DOUBLE AND income = income;

-- case: rows of nobody
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE patient_id IS NULL;

-- case: the missing unit replaced
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(minutes) AS minutes FROM visits WHERE COALESCE(patient_id, 5) = 5;

-- case: one of a list that is spelled out
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients
WHERE ward = ANY(['A', 'B', NULL]) AND age <> ALL([30, 40]) AND (sex = SOME(['F']) OR NOT children = ANY([1, 2]))
GROUP BY ward;

-- case: none of a list with NULL
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE age <> ALL([30, NULL]);
