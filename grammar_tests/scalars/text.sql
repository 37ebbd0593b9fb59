-- Texts.

-- case: upper and lower case
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE upper(city) = 'OSLO' OR lower(ward) = 'b';

-- case: the length of a text, bounded
-- outcome: accepted
SELECT AVG(LEAST(length(city), 30)) AS mean_length FROM patients;

-- case: concatenation
-- outcome: accepted
SELECT ward || '-' || sex AS cell, COUNT(*) AS n FROM patients GROUP BY cell;

-- case: concatenation that skips NULL
-- outcome: accepted
SELECT concat(ward, '/', sex) AS cell, AVG(age) AS mean_age FROM patients GROUP BY cell;

-- case: pieces of a text
-- outcome: accepted
SELECT substring(city, 1, 2) AS head, right(city, 1) AS tail, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: trimmed and replaced
-- outcome: accepted
SELECT replace(trim(city), 'o', '0') AS leet, COUNT(*) AS n FROM patients GROUP BY leet;

-- case: beginning, containing, ending
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE starts_with(city, 'B') OR contains(city, 'ond') OR ends_with(city, 'ø');

-- case: a place within a text
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE strpos(kind, 'e') > 2 AND position('y' IN kind) = 0;

-- case: texts in order
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city >= 'C' AND city < 'U' AND sex BETWEEN 'A' AND 'K';

-- case: the larger text
-- outcome: accepted
SELECT GREATEST(ward, 'B') AS at_least_b, COUNT(*) AS n FROM patients WHERE ward IS NOT NULL GROUP BY at_least_b;
