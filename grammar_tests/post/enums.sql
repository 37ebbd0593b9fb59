-- ENUMs above the release: they have the order of their members there, '0' < 'A' < 'B' < 'AB', not that of texts.

-- case: a running total in the order of members
-- outcome: accepted
SELECT blood, n, SUM(n) OVER (ORDER BY blood) AS so_far, LAG(n) OVER (ORDER BY blood) AS before
FROM (SELECT blood, COUNT(*) AS n FROM patients WHERE blood IS NOT NULL GROUP BY blood);

-- case: the first and the last member
-- outcome: accepted
SELECT MIN(blood) AS first, MAX(blood) AS last, ARG_MAX(n, blood) AS of_last
FROM (SELECT blood, COUNT(*) AS n FROM patients WHERE blood IS NOT NULL GROUP BY blood);

-- case: the groups in the order of members
-- outcome: accepted
SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood ORDER BY blood DESC NULLS FIRST;

-- case: the last group by its member
-- outcome: accepted
SELECT blood, AVG(age) AS mean_age FROM patients WHERE blood IS NOT NULL GROUP BY blood ORDER BY blood DESC LIMIT 1;

-- case: two columns of one ENUM are compared by its members
-- outcome: accepted
SELECT a.blood, COUNT(*) AS above
FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood) AS a
JOIN (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood) AS b ON a.blood > b.blood
GROUP BY a.blood
ORDER BY a.blood;

-- case: beside a text an ENUM is one
-- outcome: accepted
SELECT blood, n FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood) WHERE blood > 'AA' ORDER BY blood;

-- case: HAVING with a text
-- outcome: accepted
SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood HAVING blood < 'B';

-- case: a default that is no member gives texts
-- outcome: accepted
SELECT COALESCE(blood, 'unknown') AS type, n
FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood)
ORDER BY type;

-- case: members and other texts in one column
-- outcome: accepted
SELECT blood AS word FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood) UNION SELECT ward FROM wards ORDER BY word;

-- case: places, ends and names of members
-- outcome: accepted
SELECT enum_code(blood) AS code, enum_last(blood) AS last, lower(blood) AS name, blood = 'no member' AS none
FROM (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood)
ORDER BY blood;

-- case: a function that fails on NULL is tried on a member
-- outcome: accepted
SELECT MAP([blood], [n]) AS counts FROM (SELECT blood, COUNT(*) AS n FROM patients WHERE blood IS NOT NULL GROUP BY blood)
ORDER BY blood;

-- case: members that a later stage joins and groups by
-- outcome: accepted
SELECT MAX(blood) AS last FROM (
    SELECT r.blood, COUNT(*) AS n
    FROM patients AS p JOIN (SELECT blood, COUNT(*) AS n FROM patients GROUP BY blood) AS r ON p.blood = r.blood
    GROUP BY r.blood
);
