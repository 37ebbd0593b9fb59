-- How alike two texts are.

-- case: steps from one word to another
-- outcome: accepted
SELECT SUM(levenshtein(city, 'Oslo')) AS steps, SUM(editdist3(city, 'Bergen')) AS same FROM patients;

-- case: steps that may swap neighbours
-- outcome: accepted
SELECT AVG(damerau_levenshtein(city, 'Olso')) AS steps FROM patients;

-- case: places in which two words differ
-- outcome: accepted
SELECT SUM(hamming(sex, 'F')) AS others, SUM(CASE WHEN strlen(ward) = 1 THEN mismatches(ward, 'A') END) AS rest FROM patients;

-- case: shares of letters
-- outcome: accepted
SELECT AVG(jaccard(city, 'Bergen')) AS j, AVG(jaro_similarity(city, 'Bergen')) AS s, AVG(jaro_winkler_similarity(city, 'Bergen')) AS w FROM patients;

-- case: alike enough
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE jaro_winkler_similarity(city, 'Bregen') > 0.8 OR levenshtein(city, ward) < 4;
