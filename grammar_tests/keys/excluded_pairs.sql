-- Combinations of public keys that the query's own conditions exclude: they are not shown.

-- case: what comes first is not later
-- outcome: accepted
SELECT quarter(visited_on) AS visited, quarter(seen_at) AS seen, COUNT(*) AS n
FROM visits
WHERE quarter(seen_at) >= quarter(visited_on)
GROUP BY visited, seen;

-- case: a condition on names of a subquery
-- outcome: accepted
SELECT w, c, COUNT(*) AS n
FROM (SELECT month(visited_on) AS w, quarter(seen_at) AS c FROM visits WHERE minutes > 10)
WHERE w > c + 8
GROUP BY w, c;

-- case: a cohort in a join, and its own people
-- outcome: accepted
SELECT month(v.visited_on) AS month, p.cohort, COUNT(DISTINCT v.patient_id) AS people
FROM visits v
JOIN (SELECT patient_id, MIN(month(visited_on)) AS cohort FROM visits GROUP BY patient_id) p
  ON v.patient_id = p.patient_id AND month(v.visited_on) >= p.cohort
WHERE p.cohort < 4
GROUP BY month, p.cohort;

-- case: conditions that share a key
-- outcome: accepted
SELECT sex, ward, age // 40 AS part, COUNT(*) AS n
FROM patients
WHERE (sex = 'F' OR ward = 'A') AND (ward <> 'B' OR age // 40 = 1)
GROUP BY sex, ward, part;

-- case: subtotals of what is left
-- outcome: accepted
SELECT quarter(visited_on) AS visited, quarter(seen_at) AS seen, COUNT(*) AS n
FROM visits
WHERE quarter(seen_at) > quarter(visited_on)
GROUP BY CUBE (visited, seen);

-- case: a condition that NULL satisfies
-- outcome: accepted
SELECT sex, ward, COUNT(*) AS n FROM patients WHERE sex IS NULL OR ward <> 'A' GROUP BY sex, ward;

-- case: an outer join brings excluded rows back
-- outcome: accepted
SELECT p.sex, v.a, v.b, COUNT(*) AS n
FROM patients p
LEFT JOIN (SELECT patient_id, quarter(visited_on) AS a, quarter(seen_at) AS b FROM visits
           WHERE quarter(seen_at) > quarter(visited_on)) v USING (patient_id)
GROUP BY p.sex, v.a, v.b;

-- case: a condition with something beside the keys excludes none
-- outcome: accepted
SELECT quarter(visited_on) AS visited, quarter(seen_at) AS seen, COUNT(*) AS n
FROM visits
WHERE quarter(seen_at) >= quarter(visited_on) OR urgent
GROUP BY visited, seen;

-- case: a condition on one of two rows that are joined
-- outcome: accepted
SELECT a.q AS first, b.q AS second, COUNT(*) AS n
FROM (SELECT patient_id, quarter(visited_on) AS q, quarter(seen_at) AS r FROM visits WHERE r >= q) a
JOIN (SELECT patient_id, quarter(visited_on) AS q FROM visits) b USING (patient_id)
GROUP BY a.q, b.q;
