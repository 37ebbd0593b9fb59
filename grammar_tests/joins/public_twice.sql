-- Rows of a public CTE or view that are read twice: each time for itself.

-- case: a CTE with two aliases
-- outcome: accepted
WITH q AS (SELECT * FROM places)
SELECT COUNT(*) AS n FROM visits v JOIN q a ON a.place_id = v.place_id JOIN q b ON b.place_id = v.minutes % 6;

-- case: its columns as keys, of two rows
-- outcome: accepted
WITH q AS (SELECT place_id, city, kind FROM places)
SELECT a.city, b.kind, COUNT(*) AS n
FROM visits v JOIN q a ON a.place_id = v.place_id JOIN q b ON b.place_id = v.minutes % 6 GROUP BY a.city, b.kind;

-- case: in a join and in a condition
-- outcome: accepted
WITH q AS (SELECT * FROM places WHERE kind = 'clinic')
SELECT COUNT(*) AS n FROM visits v LEFT JOIN q a ON a.place_id = v.place_id
WHERE EXISTS (SELECT 1 FROM q b WHERE b.place_id = v.minutes % 6);

-- case: the other side of a LEFT JOIN
-- outcome: accepted
WITH q AS (SELECT * FROM places)
SELECT b.kind, COUNT(*) AS n
FROM visits v JOIN q a ON a.place_id = v.place_id LEFT JOIN q b ON b.place_id = v.minutes % 6 GROUP BY b.kind;
