-- Several groupings at once: every row counts in each of them, and the clip is over all of them together.

-- case: subtotals and a total
-- outcome: accepted
SELECT ward, sex, COUNT(*) AS n FROM patients GROUP BY ROLLUP (ward, sex);

-- case: all combinations of two keys
-- outcome: accepted
SELECT sex, smoker, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY CUBE (sex, smoker);

-- case: chosen sets
-- outcome: accepted
SELECT ward, sex, SUM(age) AS years FROM patients GROUP BY GROUPING SETS ((ward), (sex), ());

-- case: a key beside ROLLUP
-- outcome: accepted
SELECT ward, sex, insured, COUNT(*) AS n FROM patients GROUP BY sex, ROLLUP (ward, insured);

-- case: which keys are left out
-- outcome: accepted
SELECT ward, sex, GROUPING(ward) AS no_ward, GROUPING(ward, sex) AS both, COUNT(*) AS n
FROM patients
GROUP BY CUBE (ward, sex);

-- case: GROUPING_ID, with its keys in another order
-- outcome: accepted
SELECT GROUPING_ID(sex, ward) AS level, COUNT(*) AS n FROM patients GROUP BY ROLLUP (ward, sex);

-- case: GROUPING of a plain key is zero
-- outcome: accepted
SELECT smoker, GROUPING(smoker) AS level, COUNT(*) AS n FROM patients GROUP BY smoker;

-- case: a NULL that is a key and a NULL that is a total
-- outcome: accepted
SELECT CASE WHEN GROUPING(insured) = 1 THEN 'all' WHEN insured IS NULL THEN 'unknown' ELSE 'known' END AS who,
    COUNT(*) AS n
FROM patients
GROUP BY ROLLUP (insured);

-- case: sets inside sets
-- outcome: accepted
SELECT ward, sex, smoker, COUNT(*) AS n
FROM patients
GROUP BY GROUPING SETS ((ward, sex), ROLLUP (smoker), GROUPING SETS (sex, (ward)));

-- case: two lists of sets multiply
-- outcome: accepted
SELECT sex, smoker, insured, COUNT(*) AS n
FROM patients
GROUP BY GROUPING SETS ((sex), ()), GROUPING SETS ((smoker), (insured));

-- case: two keys that are rolled up together
-- outcome: accepted
SELECT ward, sex, smoker, COUNT(*) AS n FROM patients GROUP BY ROLLUP ((ward, sex), smoker);

-- case: keys in parentheses before ROLLUP
-- outcome: accepted
SELECT ward, sex, smoker, COUNT(*) AS n FROM patients GROUP BY (ward, sex), ROLLUP (smoker);

-- case: the same set twice is two groups
-- outcome: accepted
SELECT smoker, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((smoker), (smoker));

-- case: a key that stands twice in ROLLUP
-- outcome: accepted
SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex, ROLLUP (sex);

-- case: one set is a plain GROUP BY
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((ward));

-- case: the empty set alone
-- outcome: accepted
SELECT COUNT(*) AS n, SUM(children) AS children FROM patients GROUP BY GROUPING SETS (());

-- case: two totals
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((), ());

-- case: ordinals and aliases inside ROLLUP
-- outcome: accepted
SELECT ward AS place, age >= 40 AS older, COUNT(*) AS n FROM patients GROUP BY ROLLUP (1, older);

-- case: an expression inside ROLLUP
-- outcome: accepted
SELECT upper(ward) AS ward_name, GROUPING(upper(ward)) AS level, COUNT(*) AS n FROM patients GROUP BY ROLLUP (upper(ward));

-- case: an expression over a rolled key
-- outcome: accepted
SELECT 'ward ' || COALESCE(ward, '?') AS name, COUNT(*) AS n FROM patients GROUP BY ROLLUP (ward);

-- case: a constant inside sets
-- outcome: accepted
SELECT 'x' AS what, sex, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((what), (sex));

-- case: HAVING picks the subtotals
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ROLLUP (ward, sex) HAVING GROUPING(sex) = 1 ORDER BY n DESC, ward;

-- case: a rank within each level
-- outcome: accepted
SELECT ward, sex, rank() OVER (PARTITION BY GROUPING(ward, sex) ORDER BY ward, sex) AS place, COUNT(*) AS n
FROM patients
GROUP BY CUBE (ward, sex);

-- case: a share of the total
-- outcome: accepted
SELECT ward, COUNT(*) / max(COUNT(*)) OVER () AS share FROM patients GROUP BY ROLLUP (ward);

-- case: many rows of one patient
-- outcome: accepted
SELECT kind, urgent, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY CUBE (kind, urgent);

-- case: people within sets, counted once in each group
-- outcome: accepted
SELECT kind, urgent, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY ROLLUP (kind, urgent);

-- case: people of all and within sets, of whom each is in a group of every set
-- outcome: accepted
SELECT kind, urgent, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY GROUPING SETS ((), (kind), (urgent));

-- case: a private key inside ROLLUP, whose total needs no threshold
-- outcome: accepted
SELECT city, sex, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex, city);

-- case: two private keys in CUBE
-- outcome: accepted
SELECT city, blood, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY CUBE (city, blood);

-- case: private keys over many rows
-- outcome: accepted
SELECT place_id, kind, COUNT(*) AS n, SUM(minutes) AS minutes FROM visits GROUP BY GROUPING SETS ((place_id), (kind), (place_id, kind), ());

-- case: keys alone, rolled up
-- outcome: accepted
SELECT sex, smoker FROM patients GROUP BY ROLLUP (sex, smoker);

-- case: the key of a public table inside ROLLUP
-- outcome: accepted
SELECT w.floor, p.sex, COUNT(*) AS n FROM patients p JOIN wards w ON w.ward = p.ward GROUP BY ROLLUP (w.floor, p.sex);

-- case: a joined release, rolled up and filtered inside
-- outcome: accepted
SELECT v.kind, COUNT(*) FILTER (WHERE p.sex = 'F') AS women, AVG(v.cost) AS mean_cost
FROM visits v JOIN patients p USING (patient_id)
WHERE v.minutes < 60
GROUP BY ROLLUP (v.kind);

-- case: a condition on a key above its group
-- outcome: accepted
SELECT * FROM (SELECT ward, sex, COUNT(*) AS n FROM patients GROUP BY CUBE (ward, sex)) AS t WHERE sex IS NULL;

-- case: per-unit counts, rolled up
-- outcome: accepted
SELECT n >= 3 AS often, COUNT(*) AS people
FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)
GROUP BY ROLLUP (often);

-- case: subtotals without any delta
-- outcome: accepted
-- policy: pure.toml
SELECT ward, sex, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY ROLLUP (ward, sex);

-- case: a key that looks into another table
-- outcome: accepted
SELECT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id) AS seen, sex, COUNT(*) AS n
FROM patients p
GROUP BY ROLLUP (seen, sex);

-- case: a row's number within its patient
-- outcome: accepted
SELECT number, sex, COUNT(*) AS n
FROM (
    SELECT p.sex, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS number
    FROM visits v JOIN patients p USING (patient_id)
)
GROUP BY ROLLUP (number, sex);

-- case: a total joined back to private rows
-- outcome: accepted
SELECT COUNT(*) AS older
FROM patients p, (SELECT ward, sex, AVG(age) AS mean_age FROM patients GROUP BY CUBE (ward, sex)) AS m
WHERE m.ward IS NULL AND m.sex IS NULL AND p.age > m.mean_age;

-- case: wards whose subtotal is large
-- outcome: accepted
SELECT COUNT(*) FROM patients WHERE ward IN (SELECT ward FROM patients GROUP BY ROLLUP (ward) HAVING COUNT(*) > 3);

-- case: sums of one argument with all their totals
-- outcome: accepted
SELECT ward, sex, smoker, SUM(age) AS years FROM patients GROUP BY CUBE (ward, sex, smoker);
