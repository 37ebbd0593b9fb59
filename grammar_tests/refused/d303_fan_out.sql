-- D303: a public table may multiply one private row too often.

-- case: a long range crossed in
-- outcome: refused D303 at 1:32
-- instead: SELECT COUNT(*) FROM patients, range(100) AS r(i)
SELECT COUNT(*) FROM patients, range(20000) AS r(i);

-- case: a long range, joined for some
-- outcome: refused D303 at 1:38
-- instead: SELECT COUNT(*) FROM patients p JOIN range(2000) AS r(i) ON p.city = 'Longyearbyen'
SELECT COUNT(*) FROM patients p JOIN range(20000000) AS r(i) ON p.city = 'Longyearbyen';

-- case: a long range, left joined
-- outcome: refused D303 at 1:43
SELECT COUNT(i) FROM patients p LEFT JOIN range(50000) AS r(i) ON i <= p.age;

-- case: two ranges together
-- outcome: refused D303 at 1:52
-- instead: SELECT SUM(s) FROM (SELECT SUM(age) AS s FROM patients), range(200) AS a(i), range(200) AS b(j)
SELECT SUM(age) FROM patients, range(200) AS a(i), range(200) AS b(j);

-- case: a long series from a subquery
-- outcome: refused D303 at 2:34
WITH n AS (SELECT a.generate_series AS k FROM generate_series(1, 300) AS a, generate_series(1, 300) AS b)
SELECT COUNT(*) FROM visits JOIN n ON n.k > minutes;

-- case: as many copies as groups are released
-- outcome: refused D303 at 1:59
SELECT SUM(p.age) AS s FROM patients p CROSS JOIN (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) c;

-- case: two long lists of a row
-- outcome: refused D303 at 1:111
-- instead: SELECT OPTIONS(max_unnest = 10) COUNT(*) FROM answers, unnest(string_split(choices, ';')) AS u(c), unnest(scores) AS v(d)
SELECT OPTIONS(max_unnest = 500) COUNT(*) AS n FROM answers, unnest(string_split(choices, ';')) AS u(choice), unnest(scores) AS v(score);
