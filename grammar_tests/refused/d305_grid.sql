-- D305: the numbers do not fit the fixed-point grid.

-- case: one unit's rows multiplied too often
-- outcome: refused D305 at 1:8
-- instead: SELECT OPTIONS(max_rows_contributed = 1000) SUM(cost) FROM visits
SELECT SUM(a.cost)
FROM visits a JOIN visits b USING (patient_id) JOIN visits c USING (patient_id) JOIN visits d USING (patient_id)
JOIN visits e USING (patient_id);

-- case: sums of very different size under one clip
-- outcome: refused D305 at 1:12
-- instead: SELECT SUM(income / 1000) AS thousands, COUNT(*) AS n FROM patients
SELECT SUM(income * 1e300), COUNT(*) FROM patients;

-- case: a power that almost overflows
-- outcome: refused D305 at 1:12
SELECT SUM(EXP(age * 5.8)) FROM patients;
