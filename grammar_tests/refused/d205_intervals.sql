-- D205: the interval of something that is no released number.

-- case: the interval of a key
-- outcome: refused D205 at 1:8
-- instead: SELECT ward, COUNT(*) AS n, DP_INTERVAL_LOW(n) FROM patients GROUP BY ward
SELECT DP_INTERVAL_LOW(ward), COUNT(*) FROM patients GROUP BY ward;

-- case: the interval of a private value
-- outcome: refused D205 at 1:12
-- instead: SELECT SUM(age) AS n, DP_INTERVAL_HIGH(n) FROM patients
SELECT SUM(DP_INTERVAL_HIGH(age)) FROM patients;

-- case: the interval of one patient's count
-- outcome: refused D205 at 1:32
SELECT AVG(x) FROM (SELECT AVG(DP_INTERVAL_LOW(cost)) AS x FROM visits GROUP BY patient_id);

-- case: the interval of one patient's exact number
-- outcome: refused D205 at 1:40
SELECT AVG(x) FROM (SELECT patient_id, DP_INTERVAL_LOW(COUNT(*)) AS x FROM visits GROUP BY patient_id);

-- case: the interval of a constant
-- outcome: refused D205 at 1:18
SELECT COUNT(*), DP_INTERVAL_LOW(1) FROM patients;

-- case: the interval of a public number
-- outcome: refused D205 at 1:8
SELECT DP_INTERVAL_LOW(beds) FROM wards;

-- case: the interval of a sum of released numbers
-- outcome: refused D205 at 1:8
-- instead: SELECT SUM(n) FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) WHERE DP_INTERVAL_LOW(n) > 0
SELECT DP_INTERVAL_LOW(SUM(n)) FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward);

-- case: the interval of numbers that GROUP BY puts together
-- outcome: refused D205 at 1:13
SELECT sex, DP_INTERVAL_LOW(n) FROM (SELECT sex, ward, COUNT(*) AS n FROM patients GROUP BY ALL) GROUP BY sex;

-- case: an interval of nothing
-- outcome: refused D205 at 1:18
-- instead: SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) FROM patients
SELECT COUNT(*), DP_INTERVAL_LOW() FROM patients;

-- case: an interval with a confidence
-- outcome: refused D205 at 1:23
SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n, 0.9) FROM patients;

-- case: the interval of an interval's end
-- outcome: refused D205 at 1:18
SELECT COUNT(*), DP_INTERVAL_LOW(DP_INTERVAL_LOW(COUNT(*))) FROM patients;
