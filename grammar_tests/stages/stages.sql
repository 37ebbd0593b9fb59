-- What is released first and then used among private rows: a stage of its own, paid for with the rest.

-- case: above the mean
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE income > (SELECT AVG(income) FROM patients);

-- case: above the mean, by ward
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients WHERE age > (SELECT AVG(age) FROM patients) GROUP BY ward;

-- case: a mean of the group, decorrelated
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE v.cost > (SELECT AVG(w.cost) FROM visits w WHERE w.kind = v.kind);

-- case: a mean by a public table's key
-- outcome: accepted
SELECT SUM(v.minutes) AS minutes FROM visits v JOIN places l USING (place_id)
WHERE v.minutes < (SELECT 0.9 * AVG(w.minutes) FROM visits w WHERE w.place_id = l.place_id);

-- case: the busiest places, joined back
-- outcome: accepted
WITH busy AS (SELECT place_id, COUNT(*) AS n FROM visits GROUP BY place_id ORDER BY n DESC LIMIT 3)
SELECT COUNT(*) AS n FROM visits JOIN busy USING (place_id);

-- case: a release joined on its key
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v JOIN (SELECT kind, AVG(cost) AS mean FROM visits GROUP BY kind) m ON m.kind = v.kind
WHERE v.cost > m.mean;

-- case: a release kept by a left join
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(m.n) AS matched
FROM patients p LEFT JOIN (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) m ON m.ward = p.ward;

-- case: three stages
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients
WHERE income > (SELECT AVG(income) FROM patients WHERE age > (SELECT AVG(age) FROM patients));

-- case: two releases in one condition
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits) AND minutes > (SELECT AVG(minutes) FROM visits);

-- case: one release used before and after
-- outcome: accepted
WITH m AS (SELECT AVG(age) AS mean FROM patients)
SELECT COUNT(*) AS n, (SELECT mean FROM m) AS mean FROM patients WHERE age > (SELECT mean FROM m);

-- case: a released value inside a sum
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(cost - (SELECT AVG(cost) FROM visits), -500), 500)) AS over FROM visits;

-- case: a released average keeps its argument's range
-- outcome: accepted
SELECT SUM(cost - (SELECT AVG(cost) FROM visits)) AS over FROM visits;

-- case: a released sum, clamped above its release
-- outcome: accepted
SELECT SUM(age - (SELECT LEAST(GREATEST(SUM(age) / 100, 0), 50) FROM patients)) AS x FROM patients;

-- case: no row of the release
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v
WHERE NOT EXISTS (SELECT 1 FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) k WHERE k.kind = v.kind AND k.n > 30);

-- case: a count for each row of a public table
-- outcome: accepted
SELECT l.city, l.kind, (SELECT COUNT(*) FROM visits v WHERE v.place_id = l.place_id) AS n FROM places l;

-- case: public rows chosen by a release tied to them
-- outcome: accepted
SELECT l.place_id, l.city FROM places l
WHERE l.place_id < 5 AND 15 < (SELECT COUNT(*) FROM visits v WHERE v.place_id = l.place_id AND v.minutes > 20);

-- case: a release tied to the groups of another
-- outcome: accepted
SELECT k.kind, k.n, (SELECT AVG(v.minutes) FROM visits v WHERE v.kind = k.kind) AS minutes
FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) k;

-- case: a value of a release by its key
-- outcome: accepted
WITH r AS (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind)
SELECT COUNT(*) AS n FROM visits v WHERE (SELECT n FROM r WHERE r.kind = v.kind) > 10;

-- case: above the average of one group of a release
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits
WHERE cost > (SELECT c FROM (SELECT kind, AVG(cost) AS c FROM visits GROUP BY kind) WHERE kind = 'checkup');

-- case: above the average of one group of two keys
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits
WHERE cost > (SELECT c FROM (SELECT kind, kind || '!' AS k, AVG(cost) AS c FROM visits GROUP BY kind, k) r
              WHERE 'checkup' = r.kind AND c > 0 AND (k = 'checkup!'));
