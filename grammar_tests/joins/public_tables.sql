-- Private rows joined with public tables, on any condition.

-- case: on a public key
-- outcome: accepted
SELECT l.city, COUNT(*) AS visits FROM visits v JOIN places l ON v.place_id = l.place_id GROUP BY l.city;

-- case: USING a column of both
-- outcome: accepted
SELECT w.floor, AVG(p.age) AS mean_age FROM patients p JOIN wards w USING (ward) GROUP BY w.floor;

-- case: a public table in front
-- outcome: accepted
SELECT l.kind, SUM(v.cost) AS cost FROM places l JOIN visits v USING (place_id) GROUP BY l.kind;

-- case: a fan-out without a key
-- outcome: accepted
SELECT t.tag, COUNT(*) AS visits FROM visits v JOIN place_tags t ON t.place_id = v.place_id GROUP BY t.tag;

-- case: a range condition
-- outcome: accepted
SELECT b.band, COUNT(*) AS n, AVG(p.income) AS mean_income
FROM patients p JOIN age_bands b ON p.age BETWEEN b.low AND b.high
GROUP BY b.band;

-- case: a cross join
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(p.age) AS years FROM patients p CROSS JOIN wards w;

-- case: an inequality
-- outcome: accepted
SELECT SUM(t.fee) AS fees FROM visits v JOIN tariffs t ON t.kind = v.kind AND t.valid_from <= v.visited_on;

-- case: private rows kept by a left join
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(h.name) AS on_holidays FROM visits v LEFT JOIN holidays h ON h.day = v.visited_on;

-- case: a left join with a fan-out
-- outcome: accepted
SELECT v.kind, COUNT(*) AS n, COUNT(t.tag) AS tags
FROM visits v LEFT JOIN place_tags t ON t.place_id = v.place_id
GROUP BY v.kind;

-- case: an inner join with an empty public table
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v JOIN holidays h ON h.day = v.visited_on;

-- case: two public tables in a row
-- outcome: accepted
SELECT t.tag, l.kind, SUM(v.minutes) AS minutes
FROM visits v JOIN places l ON l.place_id = v.place_id JOIN place_tags t ON t.place_id = l.place_id
GROUP BY t.tag, l.kind;

-- case: private, public and private
-- outcome: accepted
SELECT w.floor, l.kind, COUNT(*) AS n
FROM patients p
JOIN wards w ON w.ward = p.ward
JOIN visits v ON v.patient_id = p.patient_id
JOIN places l ON l.place_id = v.place_id
GROUP BY w.floor, l.kind;

-- case: a public column in the sum
-- outcome: accepted
SELECT SUM(w.beds) AS beds, SUM(w.beds * p.age) AS weighted FROM patients p JOIN wards w ON w.ward = p.ward;

-- case: a public aggregate joined in
-- outcome: accepted
SELECT SUM(v.cost - f.mean_fee) AS above
FROM visits v JOIN (SELECT kind, AVG(fee) AS mean_fee FROM tariffs WHERE fee IS NOT NULL GROUP BY kind) AS f ON f.kind = v.kind;

-- case: joined on what may be NULL on both sides
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p JOIN places l ON p.city IS NOT DISTINCT FROM l.city;

-- case: a key that every branch of OR names
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(v.cost) AS cost FROM visits v, places l
WHERE v.place_id = l.place_id AND l.kind = 'clinic' AND v.cost < 100
   OR (v.place_id = l.place_id AND l.kind = 'hospital' AND (v.urgent OR v.minutes > 30));

-- case: a branch of OR that another one implies
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v JOIN places l
  ON v.place_id = l.place_id AND v.urgent OR v.place_id = l.place_id AND v.urgent AND l.city = 'Oslo';
