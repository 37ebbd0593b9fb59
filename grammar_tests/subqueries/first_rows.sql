-- The first rows of a subquery: what ORDER BY names, and what windows look at.

-- case: an ordinal
-- outcome: accepted
SELECT COUNT(*) FROM patients p
WHERE (SELECT cost FROM visits v WHERE v.patient_id = p.patient_id ORDER BY 1 DESC LIMIT 1) > 100;

-- case: an alias before a column
-- outcome: accepted
SELECT COUNT(*) FROM patients p
WHERE (SELECT -cost AS cost FROM visits v WHERE v.patient_id = p.patient_id ORDER BY cost LIMIT 1) < -100;

-- case: a column inside an expression
-- outcome: accepted
SELECT COUNT(*) FROM patients p
WHERE (SELECT -cost AS cost FROM visits v WHERE v.patient_id = p.patient_id ORDER BY cost + 0, minutes LIMIT 1) < -100;

-- case: among the two smallest
-- outcome: accepted
SELECT COUNT(*) FROM patients p
WHERE p.age NOT IN (SELECT minutes FROM visits v WHERE v.patient_id = p.patient_id ORDER BY 1 LIMIT 2);

-- case: the first by an ordinal of DISTINCT ON
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(m, 0), 500)) FROM (
    SELECT DISTINCT ON (1) patient_id, -minutes AS n, minutes AS m FROM visits ORDER BY 2);

-- case: the first by an alias of DISTINCT ON
-- outcome: accepted
SELECT COUNT(*), SUM(LEAST(GREATEST(m, 0), 500)) FROM (
    SELECT DISTINCT ON (who) patient_id AS who, -minutes AS minutes, minutes AS m FROM visits ORDER BY minutes);

-- case: a window of the tied rows
-- outcome: accepted
SELECT COUNT(*) FROM visits v WHERE v.cost = (SELECT w.cost FROM visits w WHERE w.patient_id = v.patient_id AND w.kind = v.kind
    QUALIFY row_number() OVER (ORDER BY w.cost DESC) = 1);

-- case: a window of the tied rows, by the unit
-- outcome: accepted
SELECT COUNT(*) FROM visits v WHERE v.cost = (SELECT w.cost FROM visits w WHERE w.patient_id = v.patient_id AND w.kind = v.kind
    QUALIFY row_number() OVER (PARTITION BY w.patient_id ORDER BY w.cost) = 1);

-- case: a public value on a key
-- outcome: accepted
SELECT COUNT(*) FROM patients p WHERE (SELECT city FROM places t WHERE t.place_id = p.children) IS NOT NULL;

-- case: the first of several public values
-- outcome: accepted
SELECT COUNT(*) FROM patients p
WHERE (SELECT tag FROM place_tags t WHERE t.place_id = p.children ORDER BY tag LIMIT 1) = 'night';
