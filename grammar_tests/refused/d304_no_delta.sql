-- D304: private group keys need a delta to be shown, and this policy has none.

-- case: a private key
-- outcome: refused D304 at 1:46
-- instead: SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex
-- policy: pure.toml
SELECT city, COUNT(*) FROM patients GROUP BY city;

-- case: keys alone
-- outcome: refused D304 at 1:17
-- policy: pure.toml
SELECT DISTINCT city FROM patients;

-- case: a private key beside a public one
-- outcome: refused D304 at 1:88
-- policy: pure.toml
SELECT ward, place_id, SUM(cost) FROM patients JOIN visits USING (patient_id) GROUP BY ward, place_id;

-- case: an expression over a private key
-- outcome: refused D304 at 1:58
-- policy: pure.toml
SELECT upper(city) AS c, AVG(age) FROM patients GROUP BY c;

-- case: one private key inside ROLLUP
-- outcome: refused D304 at 1:59
-- policy: pure.toml
SELECT sex, city, COUNT(*) FROM patients GROUP BY ROLLUP (sex, city);

-- case: the keys of a number that only has a range: which of them occur
-- outcome: refused D304 at 1:17
-- policy: pure.toml
SELECT DISTINCT age FROM patients;

-- case: a cost cut into too many steps
-- outcome: refused D304 at 1:56
-- policy: pure.toml
SELECT floor(cost) AS c, COUNT(*) FROM visits GROUP BY c;

-- case: a logistic fit
-- outcome: refused D304 at 1:15
-- instead: SELECT * FROM DP_LINEAR((SELECT CASE WHEN sex = 'F' THEN 1 ELSE 0 END AS y, age FROM patients))
-- policy: pure.toml
SELECT * FROM DP_LOGISTIC((SELECT sex = 'F' AS is_f, age FROM patients));
