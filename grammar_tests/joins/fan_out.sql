-- Public tables joined on columns that are no key: a row counts as often as rows there share its value.

-- case: tags of the places of visits
-- outcome: accepted
SELECT t.tag, COUNT(*) AS n FROM visits v JOIN place_tags t USING (place_id) GROUP BY t.tag;

-- case: one row of a unit and three of a place
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(p.age) AS age FROM patients p JOIN place_tags t ON t.place_id = 1 + p.age % 2;

-- case: kept where nothing is found
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(t.tag) AS tags FROM patients p LEFT JOIN place_tags t ON t.place_id = 1 + p.age % 2;

-- case: NULL is equal to nothing
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p JOIN place_tags t ON t.tag = CASE WHEN p.age % 2 = 0 THEN 'night' END;

-- case: unless it is not distinct
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p JOIN place_tags t ON t.place_id IS NOT DISTINCT FROM 1 + p.age % 2;

-- case: compared in a type that holds no key
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p JOIN place_tags t ON t.place_id = p.income / 1000;

-- case: a part of the table
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p JOIN (SELECT place_id AS place FROM place_tags WHERE tag = 'night') t ON t.place = 1 + p.age % 2;

-- case: rows of the query's own
-- outcome: accepted
SELECT t.label, COUNT(*) AS n FROM patients p JOIN (VALUES ('F', 'she'), ('F', 'they'), ('M', 'he')) AS t(sex, label) USING (sex) GROUP BY t.label;

-- case: one after the other
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
JOIN place_tags t ON t.place_id = 1 + p.age % 2 JOIN tariffs f ON f.kind = CASE WHEN p.smoker THEN 'therapy' ELSE 'checkup' END;

-- case: one day of a public table
-- outcome: accepted
SELECT v.kind, SUM(t.fee) AS fees, COUNT(*) AS n
FROM visits v JOIN tariffs t ON t.kind = v.kind AND t.valid_from = DATE '2022-01-01' GROUP BY v.kind;

-- case: one day of a public table for all
-- outcome: accepted
SELECT SUM(v.minutes * t.fee) AS owed FROM visits v, tariffs t WHERE t.valid_from = DATE '2022-01-01' AND t.kind = 'checkup';

-- case: the days of a public table from one on
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p
JOIN tariffs t ON t.valid_from >= DATE '2020-01-01' AND t.kind = CASE WHEN p.smoker THEN 'therapy' ELSE 'checkup' END;
