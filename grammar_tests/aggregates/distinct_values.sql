-- Counting different values of which each unit stands for a few.

-- case: values of a column
-- outcome: accepted
SELECT COUNT(DISTINCT city) AS cities FROM patients;

-- case: values beside rows, units and a mean
-- outcome: accepted
SELECT COUNT(DISTINCT income) AS incomes, COUNT(*) AS n, COUNT(DISTINCT patient_id) AS people, AVG(age) AS age FROM patients;

-- case: values by a public key
-- outcome: accepted
SELECT sex, COUNT(DISTINCT city) AS cities, COUNT(*) AS n FROM patients GROUP BY sex;

-- case: values by a private key
-- outcome: accepted
SELECT city, COUNT(DISTINCT ward) AS wards, COUNT(DISTINCT income) FILTER (WHERE age > 30) AS incomes FROM patients GROUP BY city;

-- case: values by a key of several types
-- outcome: accepted
SELECT registered, score, insured, born, COUNT(DISTINCT height) AS heights FROM patients GROUP BY ALL;

-- case: values of many rows by group
-- outcome: accepted
SELECT kind, COUNT(DISTINCT place_id) AS places FROM visits GROUP BY kind;

-- case: days of many rows, as many as each can have
-- outcome: accepted
-- plain: SELECT COUNT(DISTINCT visited_on) AS days, COUNT(DISTINCT seen_at) AS moments FROM visits
SELECT OPTIONS(max_values_contributed = 100) COUNT(DISTINCT visited_on) AS days, COUNT(DISTINCT seen_at) AS moments FROM visits;

-- case: more values than a unit may claim
-- outcome: accepted
-- oracle: no-meaning (values beyond the first two of a patient are not counted)
-- plain: SELECT kind, COUNT(DISTINCT cost) AS costs, COUNT(DISTINCT minutes) AS times FROM visits GROUP BY kind
SELECT OPTIONS(max_values_contributed = 2) kind, COUNT(DISTINCT cost) AS costs, COUNT(DISTINCT minutes) AS times FROM visits GROUP BY kind;

-- case: values along a foreign key
-- outcome: accepted
-- plain: SELECT drug, COUNT(DISTINCT dose) AS doses FROM treatments GROUP BY drug
SELECT OPTIONS(max_values_contributed = 50) drug, COUNT(DISTINCT dose) AS doses FROM treatments GROUP BY drug;

-- case: values of a table that does not say how many rows one has
-- outcome: accepted
SELECT COUNT(DISTINCT seconds) AS lengths FROM calls;

-- case: values of no row at all
-- outcome: accepted
SELECT COUNT(DISTINCT reason) AS reasons, COUNT(DISTINCT made_on) FILTER (WHERE cost > 10) AS days FROM referrals;

-- case: floating-point values, with two zeros and no number among them
-- outcome: accepted
SELECT COUNT(DISTINCT score) AS scores, COUNT(DISTINCT -score) AS as_many FROM patients;

-- case: an expression
-- outcome: accepted
SELECT ward, COUNT(DISTINCT age // 10) AS decades, COUNT(DISTINCT upper(city) || sex) AS words FROM patients GROUP BY ward;

-- case: enums, conditions and dates
-- outcome: accepted
SELECT COUNT(DISTINCT blood) AS types, COUNT(DISTINCT smoker) AS answers, COUNT(DISTINCT born) AS days FROM patients;

-- case: of values that a condition narrows, in HAVING and ORDER BY
-- outcome: accepted
SELECT ward FROM patients GROUP BY ward HAVING COUNT(DISTINCT city) > 1 ORDER BY COUNT(DISTINCT city) DESC, ward;

-- case: arithmetic with a count of values
-- outcome: accepted
SELECT COUNT(DISTINCT city) * 100.0 / COUNT(*) AS per_hundred FROM patients;

-- case: in grouping sets
-- outcome: accepted
SELECT ward, sex, COUNT(DISTINCT height) AS heights, COUNT(*) AS n FROM patients GROUP BY ROLLUP (ward, sex);

-- case: in grouping sets that are not public
-- outcome: accepted
-- oracle: no-meaning (values beyond the first of a patient in each set are not counted)
-- plain: SELECT kind, urgent, COUNT(DISTINCT place_id) AS places FROM visits GROUP BY CUBE (kind, urgent)
SELECT OPTIONS(max_values_contributed = 1) kind, urgent, COUNT(DISTINCT place_id) AS places FROM visits GROUP BY CUBE (kind, urgent);

-- case: by the name that sketches it elsewhere
-- outcome: accepted
-- plain: SELECT COUNT(DISTINCT city) AS cities FROM patients
SELECT approx_count_distinct(city) AS cities FROM patients;

-- case: a sketch within each unit
-- outcome: accepted
-- plain: SELECT AVG(n) AS kinds FROM (SELECT patient_id, COUNT(DISTINCT kind) AS n FROM visits GROUP BY patient_id)
SELECT AVG(n) AS kinds FROM (SELECT patient_id, approx_count_distinct(kind) AS n FROM visits GROUP BY patient_id);

-- case: over joins
-- outcome: accepted
SELECT w.floor, COUNT(DISTINCT v.place_id) AS places FROM visits v JOIN patients p USING (patient_id) JOIN wards w ON w.ward = p.ward GROUP BY w.floor;

-- case: over each unit's own numbers
-- outcome: accepted
SELECT COUNT(DISTINCT n) AS numbers FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: values of a column that took the unit's name
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) AS n FROM (SELECT * REPLACE (place_id AS patient_id) FROM visits);

-- case: in a stage below
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE age > (SELECT COUNT(DISTINCT city) FROM patients);

-- case: under pure privacy
-- outcome: accepted
-- policy: pure.toml
SELECT sex, COUNT(DISTINCT city) AS cities FROM patients GROUP BY sex;

-- case: of a key of the rows, which is a count of rows
-- outcome: accepted
SELECT COUNT(DISTINCT visit_id) AS visits, AVG(minutes) AS minutes FROM visits;

-- case: of a key of the rows, by groups, in sets and with conditions
-- outcome: accepted
SELECT kind, COUNT(DISTINCT visit_id) AS n, COUNT(DISTINCT visit_id) FILTER (WHERE minutes > 30) AS more FROM visits GROUP BY ROLLUP (kind);

-- case: of a key of rows that a join keeps as they are
-- outcome: accepted
SELECT p.ward, COUNT(DISTINCT v.visit_id) AS n FROM visits v JOIN patients p USING (patient_id) JOIN places q ON q.place_id = v.place_id GROUP BY p.ward;

-- case: of a key of rows that a join repeats
-- outcome: accepted
SELECT COUNT(DISTINCT v.visit_id) AS n FROM visits v JOIN place_tags t ON t.place_id = v.place_id;

-- case: of a key that other rows refer to
-- outcome: accepted
SELECT drug, COUNT(DISTINCT v.visit_id) AS n FROM treatments t JOIN visits v USING (visit_id) GROUP BY drug;

-- case: of a key of rows, as many as its own table has, by its columns
-- outcome: accepted
SELECT v.kind, COUNT(DISTINCT v.visit_id) AS n FROM visits v JOIN place_tags t ON t.place_id = v.place_id GROUP BY v.kind;

-- case: of a key of rows of which each stands twice
-- outcome: accepted
SELECT COUNT(DISTINCT visit_id) AS n FROM (SELECT patient_id, visit_id FROM visits UNION ALL SELECT patient_id, visit_id FROM visits);

-- case: of a part of a key, after groups of the unit
-- outcome: accepted
SELECT COUNT(DISTINCT kind) AS n FROM (SELECT patient_id, kind FROM visits GROUP BY patient_id, kind);
