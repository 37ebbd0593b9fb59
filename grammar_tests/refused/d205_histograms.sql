-- Bins that are none.

-- case: bins out of order
-- outcome: refused D205 at 1:28
-- instead: SELECT HISTOGRAM(age, [20, 40]) FROM patients
SELECT HISTOGRAM(age, [40, 20]) FROM patients;

-- case: no bins
-- outcome: refused D205 at 1:8
SELECT HISTOGRAM(age, []) FROM patients;

-- case: a bin that depends on a row
-- outcome: refused D205 at 1:28
SELECT HISTOGRAM(age, [20, children]) FROM patients;

-- case: bins that are no list
-- outcome: refused D205 at 1:23
SELECT HISTOGRAM(age, 20) FROM patients;

-- case: a bin that no whole number is
-- outcome: refused D205 at 1:24
SELECT HISTOGRAM(age, [20.5]) FROM patients;

-- case: a bin that is nothing
-- outcome: refused D205 at 1:8
SELECT HISTOGRAM(age, [20, NULL]) FROM patients;

-- case: texts
-- outcome: refused D205 at 1:18
-- instead: SELECT ward, COUNT(*) FROM patients GROUP BY ward
SELECT HISTOGRAM(ward, ['A', 'B']) FROM patients;

-- case: a histogram of each patient's rows
-- outcome: refused D253 at 1:40
-- instead: SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) FILTER (WHERE cost <= 10) AS n FROM visits GROUP BY patient_id)
SELECT AVG(n) FROM (SELECT patient_id, HISTOGRAM(cost, [10]) AS n FROM visits GROUP BY patient_id);

-- case: a histogram of counts
-- outcome: refused D253 at 1:8
SELECT HISTOGRAM(COUNT(*), [10]) FROM patients GROUP BY ward;
