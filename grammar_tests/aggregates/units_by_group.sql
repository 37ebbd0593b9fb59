-- Units counted by group: each counts once in a group, however many rows it has there.

-- case: beside sums of rows, which are noised together with them
-- outcome: accepted
SELECT kind, COUNT(DISTINCT patient_id) AS people, SUM(minutes) AS minutes FROM visits GROUP BY kind;

-- case: under conditions that exclude each other for a row, and not for a unit
-- outcome: accepted
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE urgent) AS urgent,
       COUNT(DISTINCT patient_id) FILTER (WHERE NOT urgent) AS planned FROM visits;

-- case: the same with Laplace noise, by group
-- outcome: accepted
-- policy: pure.toml
SELECT kind, COUNT(DISTINCT patient_id) FILTER (WHERE cost > 60) AS "long",
       COUNT(DISTINCT patient_id) FILTER (WHERE cost <= 60) AS short FROM visits GROUP BY kind;

-- case: in grouping sets, of which the total is one group
-- outcome: accepted
SELECT kind, urgent, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY GROUPING SETS ((kind, urgent), (kind), ());

-- case: in a set of private keys and in one of public keys
-- outcome: accepted
SELECT kind, place_id, COUNT(DISTINCT patient_id) AS people, COUNT(*) AS visits
FROM visits GROUP BY GROUPING SETS ((kind), (place_id));

-- case: where nobody knows how many rows a unit has
-- outcome: accepted
-- policy: finds.toml
SELECT kind, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY kind;

-- case: in the two groups where a unit counts in full
-- outcome: accepted
-- oracle: no-meaning (clipped at two groups)
-- plain: SELECT kind, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY kind
SELECT OPTIONS(max_groups_contributed = 2) kind, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY kind;

-- case: by what the unit determines
-- outcome: accepted
SELECT p.sex, COUNT(DISTINCT v.patient_id) AS people FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex;

-- case: a condition as a CASE of the unit
-- outcome: accepted
SELECT kind, COUNT(DISTINCT CASE WHEN urgent THEN patient_id END) AS urgent, COUNT(DISTINCT patient_id) AS people
FROM visits GROUP BY kind;

-- case: a CASE of the unit beside a FILTER
-- outcome: accepted
SELECT COUNT(DISTINCT CASE WHEN minutes > 60 THEN patient_id ELSE NULL END) FILTER (WHERE urgent) AS n FROM visits;

-- case: under more conditions that exclude each other than rows that count
-- outcome: accepted
-- oracle: no-meaning (clipped at one row of a patient)
-- policy: pure.toml
-- plain: SELECT COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'checkup'), COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'surgery'), COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'therapy') FROM visits
SELECT OPTIONS(max_rows_contributed = 1) COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'checkup') AS checkups,
       COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'surgery') AS surgeries,
       COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'therapy') AS therapies FROM visits;

-- case: counts of units with whole noise
-- outcome: accepted
-- policy: pure.toml
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'checkup') AS checkups,
       COUNT(DISTINCT patient_id) FILTER (WHERE kind = 'surgery') AS surgeries FROM visits;
