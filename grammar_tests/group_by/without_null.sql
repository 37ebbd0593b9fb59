-- Columns that the policy declares without NULL: the rows that hold one are left out, whatever is asked.

-- case: no group of NULL
-- outcome: accepted
-- policy: filled.toml
-- plain: SELECT sex, SUM(age) AS years FROM patients WHERE sex IS NOT NULL GROUP BY sex
SELECT sex, SUM(age) AS years FROM patients GROUP BY sex;

-- case: of both tables of a join
-- outcome: accepted
-- policy: filled.toml
-- plain: SELECT sex, kind, COUNT(*) AS n FROM patients JOIN visits USING (patient_id) WHERE sex IS NOT NULL AND kind IS NOT NULL GROUP BY sex, kind
SELECT sex, kind, COUNT(*) AS n FROM patients JOIN visits USING (patient_id) GROUP BY sex, kind;

-- case: an outer join brings NULL back
-- outcome: accepted
-- policy: filled.toml
-- plain: SELECT sex, kind, COUNT(*) AS n FROM (SELECT * FROM patients WHERE sex IS NOT NULL) LEFT JOIN (SELECT * FROM visits WHERE kind IS NOT NULL) USING (patient_id) GROUP BY sex, kind
SELECT sex, kind, COUNT(*) AS n FROM patients LEFT JOIN visits USING (patient_id) GROUP BY sex, kind;

-- case: totals count the same rows
-- outcome: accepted
-- policy: filled.toml
-- plain: SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL GROUP BY ROLLUP (sex)
SELECT sex, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex);

-- case: the rows of one unit
-- outcome: accepted
-- policy: filled.toml
-- plain: SELECT AVG(n) AS visits FROM (SELECT patient_id, COUNT(*) AS n FROM visits WHERE kind IS NOT NULL GROUP BY patient_id)
SELECT AVG(n) AS visits FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
