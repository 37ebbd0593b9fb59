-- Units of two columns: a member is a number within a club, and NULL in either is nobody.

-- case: rows and people
-- policy: two_columns.toml
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(DISTINCT (of_club, of_number)) AS people, SUM(points) AS points
FROM clubs.matches WHERE of_club IS NOT NULL;

-- case: one of the columns is a value like any other
-- policy: two_columns.toml
-- outcome: accepted
SELECT COUNT(DISTINCT of_club) AS clubs, COUNT(DISTINCT of_number) AS numbers, COUNT(DISTINCT (of_number, of_club)) AS n
FROM clubs.matches;

-- case: a group of many
-- policy: two_columns.toml
-- outcome: accepted
SELECT club, COUNT(*) AS n, AVG(fee) AS fee FROM clubs.members GROUP BY club;

-- case: a club has no member's privacy: its count is released, and then compared
-- policy: two_columns.toml
-- outcome: accepted
SELECT n > 30 AS many, COUNT(*) AS clubs
FROM (SELECT of_club, COUNT(*) AS n FROM clubs.matches GROUP BY of_club) GROUP BY many;

-- case: two tables that call the columns otherwise
-- policy: two_columns.toml
-- outcome: accepted
SELECT level, COUNT(*) AS n, SUM(points) AS points, COUNT(DISTINCT (club, number)) AS people
FROM clubs.members JOIN clubs.matches ON club = of_club AND number = of_number GROUP BY level;

-- case: whoever did not play counts too
-- policy: two_columns.toml
-- outcome: accepted
SELECT level, COUNT(*) AS n, COUNT(m.slot) AS played
FROM clubs.members LEFT JOIN clubs.matches m ON of_number = number AND of_club = club GROUP BY level;

-- case: what each one has
-- policy: two_columns.toml
-- outcome: accepted
SELECT COUNT(*) AS people, AVG(LEAST(n, 10)) AS n
FROM (SELECT of_number, of_club, COUNT(*) AS n FROM clubs.matches GROUP BY of_number, of_club);

-- case: the last match of each one
-- policy: two_columns.toml
-- outcome: accepted
SELECT points > 20 AS won, COUNT(*) AS n
FROM (
    SELECT points, ROW_NUMBER() OVER (PARTITION BY of_club, of_number ORDER BY played_on DESC, slot) AS nth
    FROM clubs.matches
)
WHERE nth = 1 GROUP BY won;

-- case: along a link of two columns
-- policy: two_columns.toml
-- outcome: accepted
SELECT kind, COUNT(*) AS n, SUM(speed) AS speed FROM clubs.shots GROUP BY kind;

-- case: joined along that link
-- policy: two_columns.toml
-- outcome: accepted
SELECT kind, COUNT(*) AS n, SUM(points) AS points
FROM clubs.shots JOIN clubs.matches USING (court, slot) GROUP BY kind;

-- case: with the names of public places
-- policy: two_columns.toml
-- outcome: accepted
SELECT city, COUNT(*) AS n, COUNT(DISTINCT (of_club, of_number)) AS people
FROM clubs.matches JOIN places USING (place_id) GROUP BY city;

-- case: members who never played
-- policy: two_columns.toml
-- outcome: accepted
SELECT COUNT(*) AS n FROM clubs.members
WHERE (club, number) NOT IN (SELECT of_club, of_number FROM clubs.matches WHERE points > 30);

-- case: members who won
-- policy: two_columns.toml
-- outcome: accepted
SELECT level, COUNT(*) AS n FROM clubs.members
WHERE EXISTS (SELECT 1 FROM clubs.matches WHERE of_club = club AND of_number = number AND points = 40) GROUP BY level;

-- case: everybody of both
-- policy: two_columns.toml
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT club, number FROM clubs.members UNION SELECT of_club, of_number FROM clubs.matches);

-- case: members without a match
-- policy: two_columns.toml
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT club, number FROM clubs.members EXCEPT SELECT of_club, of_number FROM clubs.matches);

-- case: rows of both tables
-- policy: two_columns.toml
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(DISTINCT (club, number)) AS people
FROM (SELECT club, number FROM clubs.members UNION ALL SELECT of_club, of_number FROM clubs.matches);

-- case: each member's places
-- policy: two_columns.toml
-- outcome: accepted
SELECT place_id, COUNT(*) AS n FROM (SELECT DISTINCT of_club, of_number, place_id FROM clubs.matches) GROUP BY place_id;
