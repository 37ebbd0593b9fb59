-- Rows of the items of a list that a private row holds: at most so many of each row.

-- case: the items of a text
-- outcome: accepted
SELECT choice, COUNT(*) AS n FROM answers, unnest(string_split(choices, ';')) AS u(choice) GROUP BY choice;

-- case: the units behind each item, which may stand in a list twice
-- outcome: accepted
SELECT choice, COUNT(DISTINCT patient_id) AS people, COUNT(*) AS n
FROM answers a CROSS JOIN UNNEST(string_split(a.choices, ';')) AS u(choice) GROUP BY choice;

-- case: words
-- outcome: accepted
SELECT word, COUNT(*) AS n FROM answers, unnest(string_split(lower(choices), ';')) AS u(word) WHERE word <> '' GROUP BY word;

-- case: the numbers of a list with a declared length
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(score) AS known, AVG(LEAST(GREATEST(score, 0), 10)) AS mean
FROM answers, unnest(scores) AS u(score);

-- case: rows without items stay in a left join
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(score) AS known FROM answers LEFT JOIN unnest(scores) AS u(score) ON true;

-- case: a list in the select list
-- outcome: accepted
SELECT score > 1 AS high, COUNT(*) AS n FROM (SELECT patient_id, unnest(scores) AS score FROM answers) GROUP BY high;

-- case: a list in the select list that is grouped by
-- outcome: accepted
SELECT unnest(string_split(choices, ';')) AS choice, COUNT(*) AS n FROM answers WHERE patient_id > 3 GROUP BY choice;

-- case: each item once for each unit
-- outcome: accepted
SELECT choice, COUNT(*) AS n FROM (SELECT DISTINCT patient_id, unnest(string_split(choices, ';')) AS choice FROM answers) GROUP BY choice;

-- case: all columns beside an item
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(len(scores)) AS items FROM (SELECT *, unnest(scores) AS score FROM answers) WHERE score IS NULL;

-- case: a list column that the policy says nothing about
-- outcome: accepted
SELECT allergy, COUNT(*) AS n FROM patients p, LATERAL unnest(p.allergies) AS u(allergy) GROUP BY allergy;

-- case: the keys of a map
-- outcome: accepted
SELECT k, COUNT(*) AS n FROM answers, unnest(map_keys(counts)) AS u(k) GROUP BY k;

-- case: the values of a map
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(v, 0), 100)) AS total, COUNT(*) AS n FROM answers CROSS JOIN LATERAL unnest(map_values(counts)) AS u(v);

-- case: an alias without a column
-- outcome: accepted
SELECT COUNT(u) AS n FROM answers, unnest(scores) u;

-- case: no alias
-- outcome: accepted
SELECT COUNT(unnest) AS n FROM answers, unnest(scores);

-- case: a condition on the items
-- outcome: accepted
SELECT COUNT(*) AS n FROM answers a JOIN unnest(a.scores) AS u(score) ON score > 1 AND a.patient_id < 40;

-- case: two lists of a row, and every pair of their items
-- outcome: accepted
SELECT COUNT(*) AS n FROM answers, unnest(scores) AS s(score), unnest(string_split(choices, ';')) AS c(choice) WHERE score > 1 OR choice = 'red';

-- case: a list of one of two tables
-- outcome: accepted
SELECT sex, COUNT(*) AS n FROM patients p JOIN answers a USING (patient_id), unnest(a.scores) AS u(score) WHERE u.score > 1 GROUP BY sex;

-- case: joins after a list
-- outcome: accepted
SELECT c.label, COUNT(*) AS n
FROM answers a, unnest(string_split(a.choices, ';')) AS u(choice) JOIN (VALUES ('red', 'warm'), ('blue', 'cold')) AS c(choice, label) ON c.choice = u.choice
GROUP BY c.label;

-- case: a list of both tables
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p JOIN answers a ON p.patient_id = a.patient_id, unnest(string_split(p.city || ';' || a.choices, ';')) AS u(x);

-- case: items for each unit
-- outcome: accepted
SELECT AVG(n) AS items FROM (SELECT patient_id, COUNT(*) AS n FROM answers, unnest(string_split(choices, ';')) AS u(c) GROUP BY patient_id);

-- case: sums for each unit
-- outcome: accepted
SELECT AVG(most) AS best, SUM(total) AS total
FROM (SELECT patient_id, MAX(LEAST(GREATEST(score, 0), 9)) AS most, SUM(LEAST(GREATEST(score, 0), 9)) AS total FROM answers, unnest(scores) AS u(score) GROUP BY patient_id);

-- case: a mean of a column that the rows of items repeat
-- outcome: accepted
SELECT AVG(age) AS age, COUNT(*) AS n FROM patients, unnest(allergies) AS u(a);

-- case: the sum by unit beside the items, no mass
-- outcome: accepted
SELECT SUM(spent) AS spent FROM (SELECT patient_id, SUM(cost) AS spent FROM visits GROUP BY patient_id) JOIN answers USING (patient_id), unnest(scores) AS u(score);

-- case: groups that had one row of each unit
-- outcome: accepted
SELECT choices, COUNT(*) AS n FROM (SELECT DISTINCT patient_id, choices FROM answers), unnest(string_split(choices, ';')) AS u(c) GROUP BY choices;

-- case: keys of rows that stand beside several items
-- outcome: accepted
SELECT COUNT(DISTINCT visit_id) AS visits, COUNT(*) AS n FROM visits, unnest(string_split(kind, 'e')) AS u(part);

-- case: grouping sets of items
-- outcome: accepted
SELECT sex, choice, COUNT(*) AS n FROM patients JOIN answers USING (patient_id), unnest(string_split(choices, ';')) AS u(choice) GROUP BY ROLLUP (sex, choice);

-- case: moments and quantiles of items
-- outcome: accepted
SELECT MEDIAN(LEAST(GREATEST(score, 0), 10)) AS middle, STDDEV(LEAST(GREATEST(score, 0), 10)) AS spread FROM answers, unnest(scores) AS u(score);

-- case: distinct items
-- outcome: accepted
SELECT COUNT(DISTINCT choice) AS choices FROM answers, unnest(string_split(choices, ';')) AS u(choice);

-- case: the last row of a unit, and its items
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id, scores FROM answers QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY choices) = 1), unnest(scores) AS u(score) WHERE score > 0;

-- case: items of a list of a CTE
-- outcome: accepted
WITH a AS (SELECT patient_id, string_split(choices, ';') AS list FROM answers)
SELECT c, COUNT(*) AS n FROM a, unnest(list) AS u(c) GROUP BY c;

-- case: some of the items
-- outcome: accepted
-- oracle: no-meaning (two items of each list)
-- plain: SELECT COUNT(*) FROM answers, unnest(scores) AS u(score)
SELECT OPTIONS(max_unnest = 2) COUNT(*) AS n FROM answers, unnest(scores) AS u(score);

-- case: more items than the policy declares
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n FROM answers, unnest(scores) AS u(score)
SELECT OPTIONS(max_unnest = 100) COUNT(*) AS n FROM answers, unnest(scores) AS u(score);

-- case: one item, and the keys of the rows stay
-- outcome: accepted
-- oracle: no-meaning (one item of each list)
-- plain: SELECT a, COUNT(*) FROM patients, unnest(allergies) AS u(a) GROUP BY a
SELECT OPTIONS(max_unnest = 1) a, COUNT(*) AS n FROM patients, unnest(allergies) AS u(a) GROUP BY a;

-- case: an item, a length, a membership, without rows of their own
-- outcome: accepted
SELECT scores[1] AS first, COUNT(*) AS n, SUM(len(scores)) AS items FROM answers WHERE list_contains(string_split(choices, ';'), 'red') OR scores[-1] > 1 GROUP BY first;

-- case: a text's first part as a key
-- outcome: accepted
SELECT string_split(choices, ';')[1] AS first, COUNT(*) AS n FROM answers GROUP BY first;

-- case: a constant list beside private rows
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT unnest([1, 2]) AS i, patient_id FROM patients) WHERE i = 1;

-- case: columns side by side become rows, which keep their ranges
-- outcome: accepted
SELECT SUM(x) AS total, COUNT(*) AS n FROM (SELECT unnest([age, age, children]) AS x FROM patients);

-- case: a list made from each row
-- outcome: accepted
SELECT SUM(u.i) AS total FROM patients p, unnest([p.age, p.age]) AS u(i);

-- case: copies of each row, by a constant list
-- outcome: accepted
SELECT unnest(['a', 'b']) AS k, COUNT(*) AS n FROM patients GROUP BY k;

-- case: an item of a list, a list searched, and its length
-- outcome: accepted
SELECT COUNT(allergies[1]) AS n FROM patients WHERE allergies[1] = 'pollen' OR list_contains(allergies, 'nuts') OR len(allergies) > 1;
