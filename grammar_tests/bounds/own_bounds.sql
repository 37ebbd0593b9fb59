-- CLAMPED says where a person's number ends, whatever number of rows the policy guesses.

-- case: counts and sums of each patient beyond rows_per_unit
-- outcome: accepted
-- plain: SELECT AVG(least(n, 60)) AS mean, SUM(least(greatest(spent, 0), 300000)) FILTER (WHERE spent IS NOT NULL) AS spent, MEDIAN(least(n, 60)) AS middle FROM (SELECT patient_id, COUNT(*) AS n, SUM(cost) AS spent FROM visits GROUP BY patient_id)
SELECT AVG(n CLAMPED BETWEEN 0 AND 60) AS mean, SUM(spent CLAMPED BETWEEN 0 AND 300000) AS spent,
    MEDIAN(n CLAMPED BETWEEN 0 AND 60) AS middle
FROM (SELECT patient_id, COUNT(*) AS n, SUM(cost) AS spent FROM visits GROUP BY patient_id);

-- case: by a group of one row of each patient
-- outcome: accepted
-- plain: SELECT p.ward, AVG(least(greatest(v.n / 2, 1), 30)) AS half FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) v JOIN patients p USING (patient_id) GROUP BY p.ward
SELECT p.ward, AVG(v.n / 2 CLAMPED BETWEEN 1 AND 30) AS half
FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) v JOIN patients p USING (patient_id)
GROUP BY p.ward;

-- case: several rows of each patient are bounded together
-- outcome: accepted
-- plain: SELECT kind, SUM(least(n, 60)) AS visits FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY patient_id, kind) GROUP BY kind
SELECT kind, SUM(n CLAMPED BETWEEN 0 AND 60) AS visits
FROM (SELECT patient_id, kind, COUNT(*) AS n FROM visits GROUP BY patient_id, kind)
GROUP BY kind;
