-- EXISTS within an expression, tied to a row of the unit by more than equalities.

-- case: back within thirty days
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE EXISTS (
    SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visited_on > a.visited_on AND b.visited_on <= a.visited_on + 30
)) AS back FROM visits a;

-- case: the rate of coming back
-- outcome: accepted
SELECT kind, AVG(CASE WHEN EXISTS (
    SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visited_on > a.visited_on
) THEN 1 ELSE 0 END) AS rate FROM visits a GROUP BY kind;

-- case: as a key
-- outcome: accepted
SELECT EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.cost > a.cost) AS dearer, COUNT(*) AS n, SUM(a.minutes) AS minutes
FROM visits a GROUP BY dearer;

-- case: not one
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits a
WHERE a.urgent OR NOT EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.minutes < a.minutes AND b.kind <> a.kind);

-- case: another row, whatever it is
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE EXISTS (
    SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND (b.place_id <> a.place_id OR b.urgent IS DISTINCT FROM a.urgent)
)) AS n FROM visits a;

-- case: of a person, who has one row
-- outcome: accepted
SELECT p.sex, COUNT(*) FILTER (WHERE EXISTS (
    SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.minutes > p.age
)) AS n FROM patients p GROUP BY p.sex;

-- case: of groups of a unit
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE EXISTS (
    SELECT 1 FROM sales.orders o WHERE o.patient_id = g.patient_id AND o.amount > g.n
)) AS n, COUNT(*) AS people FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) g;

-- case: public rows
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM age_bands b WHERE b.low <= p.age AND p.age <= b.high AND b.band <> 'adult')) AS n FROM patients p;

-- case: by a column that tells the unit
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM sales.refunds r WHERE r.order_id = o.order_id AND r.amount < o.amount)) AS n FROM sales.orders o;

-- case: two of them
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visited_on < a.visited_on)) AS later,
    COUNT(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visited_on > a.visited_on)) AS last
FROM visits a;

-- case: beside another condition
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p WHERE p.smoker OR EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.minutes > p.age);
