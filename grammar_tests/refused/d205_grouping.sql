-- D205: GROUPING about something that is not grouped.

-- case: GROUPING without groups
-- outcome: refused D205 at 1:8
-- instead: SELECT GROUPING(ward), COUNT(*) FROM patients GROUP BY ROLLUP (ward)
SELECT GROUPING(ward), COUNT(*) FROM patients;

-- case: GROUPING of a column that is no key
-- outcome: refused D205 at 1:8
SELECT GROUPING(sex), COUNT(*) FROM patients GROUP BY ROLLUP (ward);

-- case: GROUPING of an expression over a key
-- outcome: refused D205 at 1:8
SELECT GROUPING(upper(ward)), COUNT(*) FROM patients GROUP BY ROLLUP (ward);

-- case: a list in ROLLUP
-- outcome: refused D205 at 1:48
SELECT COUNT(*) FROM patients GROUP BY ROLLUP (allergies);

-- case: an other group among numbers
-- outcome: refused D205 at 1:79
-- instead: SELECT OPTIONS(other_group = 'other') CAST(place_id AS VARCHAR) AS place, COUNT(*) FROM visits GROUP BY place
SELECT OPTIONS(other_group = 'other') place_id, COUNT(*) FROM visits GROUP BY place_id;

-- case: an other group whose name is a number
-- outcome: refused D205 at 1:16
-- instead: SELECT OPTIONS(other_group = 'other') city, COUNT(*) FROM patients GROUP BY city
SELECT OPTIONS(other_group = 0) city, COUNT(*) FROM patients GROUP BY city;

-- case: an interval
-- outcome: refused D205 at 1:8
-- instead: SELECT epoch(seen_at - TIMESTAMP '2024-01-01') // 86400 AS late, COUNT(*) FROM visits GROUP BY late
SELECT seen_at - TIMESTAMP '2024-01-01' AS late, COUNT(*) FROM visits GROUP BY late;

-- case: a struct as a key
-- outcome: refused D205 at 1:45
-- instead: SELECT home.town, home.rooms, COUNT(*) FROM answers GROUP BY home.town, home.rooms
SELECT home, COUNT(*) FROM answers GROUP BY home;

-- case: a map as a key
-- outcome: refused D205
-- instead: SELECT u.k, COUNT(*) FROM answers, unnest(map_keys(counts)) AS u(k) GROUP BY u.k
SELECT counts, COUNT(*) FROM answers GROUP BY counts;
