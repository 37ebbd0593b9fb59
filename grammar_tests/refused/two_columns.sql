-- One column of a unit of two is not the unit.

-- case: a join on one of the columns would pair two members
-- policy: two_columns.toml
-- outcome: refused D401 at 1:48
-- instead: SELECT COUNT(*) AS n FROM clubs.members JOIN clubs.matches ON number = of_number AND club = of_club
SELECT COUNT(*) AS n FROM clubs.members m JOIN clubs.matches ON m.number = of_number;

-- case: a window of a whole club
-- policy: two_columns.toml
-- outcome: refused D254
-- instead: SELECT AVG(r) AS r FROM (SELECT RANK() OVER (PARTITION BY of_club, of_number ORDER BY points) AS r FROM clubs.matches)
SELECT AVG(r) AS r FROM (SELECT RANK() OVER (PARTITION BY of_club ORDER BY points) AS r FROM clubs.matches);

-- case: columns that are no member
-- policy: two_columns.toml
-- outcome: refused D253
-- instead: SELECT COUNT(DISTINCT (of_club, of_number)) AS n FROM clubs.matches
SELECT COUNT(DISTINCT (of_club, court)) AS n FROM clubs.matches;

-- case: a row for each member
-- policy: two_columns.toml
-- outcome: refused D402
-- instead: SELECT AVG(LEAST(n, 9)) AS n FROM (SELECT of_club, of_number, COUNT(*) AS n FROM clubs.matches GROUP BY ALL)
SELECT of_club, of_number, COUNT(*) AS n FROM clubs.matches GROUP BY of_club, of_number;

-- case: distinct rows that forget a column
-- policy: two_columns.toml
-- outcome: refused D406
-- instead: SELECT COUNT(*) AS n FROM (SELECT club, number FROM clubs.members UNION ALL SELECT of_club, of_number FROM clubs.matches)
SELECT COUNT(*) AS n FROM (SELECT club FROM clubs.members UNION SELECT of_club FROM clubs.matches);
