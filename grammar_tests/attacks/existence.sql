-- Does anybody live there? One person should not decide about rows, groups, their order or their number.

-- case: a count of people in a city of one
-- attack: existence by shape
-- outcome: accepted
-- oracle: no-meaning (a sum of nothing is 0 here)
SELECT COUNT(*) AS n, SUM(age) AS ages FROM patients WHERE city = 'Longyearbyen' AND age = 40;

-- case: an average of nobody
-- attack: existence by shape
-- outcome: accepted
SELECT AVG(income) AS mean FROM patients WHERE city = 'Atlantis' AND sex = 'F';

-- case: rows of a released count, as many as there are people
-- attack: existence by shape
-- outcome: accepted
SELECT i FROM range(1000) AS r(i) WHERE i < (SELECT COUNT(*) FROM patients WHERE city = 'Longyearbyen' AND insured);

-- case: a star over an aggregate of nothing
-- attack: existence by shape
-- outcome: accepted
-- oracle: no-meaning (a sum of nothing is 0 here)
SELECT * FROM (SELECT SUM(minutes) AS s FROM visits WHERE kind = 'massage' AND urgent);

-- case: a public row for each private group
-- attack: existence by shape
-- outcome: accepted
-- oracle: no-meaning (all declared wards appear)
SELECT w.ward, r.n FROM wards w LEFT JOIN (SELECT ward, COUNT(*) AS n FROM patients WHERE city = 'Longyearbyen' GROUP BY ward) r USING (ward);

-- case: QUALIFY over a group of one
-- attack: existence by shape
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM patients WHERE age = 40 GROUP BY city QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*)) = 1;

-- case: a rare key among others
-- attack: group keys
-- outcome: accepted
SELECT city, COUNT(*) AS n, AVG(children) AS children FROM patients GROUP BY city;

-- case: keys alone
-- attack: group keys
-- outcome: accepted
SELECT DISTINCT city, blood FROM patients;

-- case: a key that HAVING would bring back
-- attack: group keys
-- outcome: accepted
SELECT city, insured, COUNT(*) AS n FROM patients GROUP BY city, insured HAVING COUNT(*) < 2;

-- case: ROLLUP over a rare key
-- attack: group keys
-- outcome: accepted
SELECT city, smoker, COUNT(*) AS n FROM patients GROUP BY ROLLUP (city, smoker);

-- case: the rare keys by difference of two sets
-- attack: group keys
-- outcome: accepted
SELECT city FROM patients GROUP BY city EXCEPT SELECT city FROM places;

-- case: a key joined to its own spelling
-- attack: group keys
-- outcome: refused D404 at 1:81
SELECT p.city, l.kind, COUNT(*) AS n FROM patients p FULL JOIN (SELECT DISTINCT city, kind FROM places) l ON l.city = p.city GROUP BY ALL;

-- case: a key kept by DISTINCT ON
-- attack: group keys
-- outcome: accepted
SELECT DISTINCT ON (city) city, sex, COUNT(*) AS n FROM patients GROUP BY city, sex ORDER BY city, n, sex;

-- case: rare keys as columns
-- attack: group keys
-- outcome: refused D252 at 1:43
PIVOT (SELECT city, sex FROM patients) ON city USING COUNT(*) GROUP BY sex;

-- case: rare keys gathered in a list
-- attack: group keys
-- outcome: accepted
SELECT list(city ORDER BY city) AS cities FROM (SELECT city FROM patients WHERE smoker GROUP BY city);

-- case: rows whose unit is NULL
-- attack: NULL keys
-- outcome: accepted
-- oracle: no-meaning (nobody owns them)
SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits WHERE patient_id IS NULL;

-- case: a NULL unit replaced by one that exists
-- attack: NULL keys
-- outcome: refused D401 at 1:41
SELECT COUNT(*) AS n FROM visits v JOIN patients p ON COALESCE(v.patient_id, 1) = p.patient_id;

-- case: NULL units held equal
-- attack: NULL keys
-- outcome: refused D401 at 1:41
SELECT COUNT(*) AS n FROM visits v JOIN sales.orders o ON v.patient_id IS NOT DISTINCT FROM o.patient_id;

-- case: the NULLs of a full join
-- attack: NULL keys
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(v.cost) AS cost FROM patients p FULL JOIN visits v USING (patient_id) WHERE p.patient_id IS NULL;

-- case: visits of nobody by an anti-join
-- attack: NULL keys
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits v ANTI JOIN patients p USING (patient_id);

-- case: visits of nobody by NOT IN
-- attack: NULL keys
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE patient_id NOT IN (SELECT patient_id FROM patients);

-- case: groups in the order of a raw maximum
-- attack: raw order and having
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT ward, COUNT(*) FROM patients GROUP BY ward ORDER BY MAX(income);

-- case: groups chosen by a median above the release
-- attack: raw order and having
-- outcome: accepted
SELECT ward FROM patients GROUP BY ward HAVING MEDIAN(age) > 40;

-- case: groups with exactly one member
-- attack: raw order and having
-- outcome: accepted
SELECT ward, city FROM patients GROUP BY ward, city HAVING COUNT(*) = 1;

-- case: the order of raw values in a list
-- attack: raw order and having
-- outcome: refused D253 at 1:8
SELECT string_agg(ward, ',' ORDER BY income) AS wards FROM patients;

-- case: a limit of as many groups as there are people
-- attack: raw order and having
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind ORDER BY kind LIMIT (SELECT GREATEST(COUNT(*), 0) FROM patients WHERE city = 'Longyearbyen');

-- case: HAVING by the existence of one row
-- attack: raw order and having
-- outcome: refused D405 at 1:73
SELECT ward, COUNT(*) FROM patients GROUP BY ward HAVING EXISTS (SELECT 1 FROM patients q WHERE q.city = 'Longyearbyen');

-- case: a subtotal that looks like the NULL key
-- attack: NULL keys
-- outcome: accepted
SELECT ward, city, COUNT(*) AS n, GROUPING(city) AS g FROM patients GROUP BY GROUPING SETS ((ward, city), (ward));

-- case: the NULL subtotal chosen by HAVING
-- attack: NULL keys
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM patients GROUP BY CUBE (city) HAVING city IS NULL;

-- case: a rank with NULL at its end
-- attack: NULL keys
-- outcome: accepted
SELECT SUM(n) AS n FROM (SELECT patient_id, place_id, DENSE_RANK() OVER (PARTITION BY patient_id ORDER BY place_id DESC NULLS LAST) AS n FROM visits) GROUP BY place_id HAVING place_id IS NULL;

-- case: units without a row on the other side
-- attack: NULL keys
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p FULL JOIN spending s USING (patient_id) WHERE s.spent IS NULL OR s.spent > 100;

-- case: NOT IN over pairs with the unit
-- attack: NULL keys
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits a WHERE (a.kind, a.patient_id) NOT IN (SELECT b.kind, b.patient_id FROM visits b WHERE b.urgent);
