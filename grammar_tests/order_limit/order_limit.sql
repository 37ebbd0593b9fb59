-- ORDER BY, LIMIT and OFFSET over released groups.

-- case: ordered by the key
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward;

-- case: descending, the missing value first
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward DESC NULLS FIRST;

-- case: ordered by an alias
-- outcome: accepted
SELECT kind, SUM(cost) AS cost FROM visits GROUP BY kind ORDER BY cost DESC;

-- case: ordered by an ordinal
-- outcome: accepted
SELECT kind, AVG(minutes) AS mean_minutes FROM visits GROUP BY kind ORDER BY 2;

-- case: ordered by an aggregate that is not selected
-- outcome: accepted
SELECT ward FROM patients GROUP BY ward ORDER BY SUM(age) DESC, ward;

-- case: ordered by an expression over aggregates
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY SUM(income) / COUNT(*) DESC;

-- case: the three largest groups
-- outcome: accepted
SELECT place_id, SUM(cost) AS cost FROM visits GROUP BY place_id ORDER BY cost DESC, place_id LIMIT 3;

-- case: a page of groups
-- outcome: accepted
SELECT ward, sex, AVG(age) AS mean_age FROM patients GROUP BY ward, sex ORDER BY ward NULLS LAST, sex LIMIT 4 OFFSET 2;

-- case: the first row of an ungrouped release
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients LIMIT 1;

-- case: no row at all
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward LIMIT 0;

-- case: a limit that is computed
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind ORDER BY kind LIMIT 1 + 1;

-- case: ORDER BY ALL
-- outcome: accepted
SELECT insured, smoker, COUNT(*) AS n FROM patients GROUP BY ALL ORDER BY ALL;

-- case: ordered by a CASE over the key
-- outcome: accepted
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind ORDER BY CASE kind WHEN 'surgery' THEN 0 ELSE 1 END, kind;

-- case: top groups of a private key
-- outcome: accepted
SELECT city, SUM(age) AS years FROM patients GROUP BY city ORDER BY years DESC NULLS LAST LIMIT 2;

-- case: as many as a release says, which may be none
-- outcome: accepted
SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ward LIMIT (SELECT GREATEST(COUNT(*), 3) - 1 FROM visits);

-- case: an alias that is also a column orders as the alias
-- outcome: accepted
SELECT 0 - COUNT(*) AS ward, ward AS w FROM patients GROUP BY patients.ward ORDER BY ward;

-- case: in an expression it is the column
-- outcome: accepted
SELECT SUM(age) AS kind, kind AS k FROM visits JOIN patients USING (patient_id) GROUP BY visits.kind ORDER BY lower(kind) DESC;
