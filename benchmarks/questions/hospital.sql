-- What a hospital asks of its stays.

-- question: length of stay by ward
-- by: ward
SELECT ward, AVG(date_diff('day', admitted, discharged)) AS days FROM stays GROUP BY ward ORDER BY ward;

-- question: length of stay by ward, as a difference of timestamps
-- by: ward
SELECT ward, COUNT(*) AS stays, AVG(discharged - admitted) AS length FROM stays GROUP BY ward ORDER BY ward;

-- question: length of stay by ward and month, in hours
-- by: ward, month
SELECT ward, date_trunc('month', admitted) AS month, AVG(epoch(discharged - admitted) / 3600) AS hours
FROM stays WHERE discharged IS NOT NULL GROUP BY ward, month ORDER BY ward, month;

-- question: median length of stay by ward
-- by: ward
SELECT ward, MEDIAN(date_diff('hour', admitted, discharged)) / 24 AS days,
       QUANTILE_CONT(date_diff('hour', admitted, discharged), 0.9) / 24 AS p90
FROM stays GROUP BY ward ORDER BY ward;

-- question: histogram of length of stay
-- by: days
SELECT LEAST(date_diff('day', admitted, discharged), 30) AS days, COUNT(*) AS stays
FROM stays WHERE discharged IS NOT NULL GROUP BY days ORDER BY days;

-- question: readmission within 30 days
WITH following AS (
    SELECT discharged, LEAD(admitted) OVER (PARTITION BY patient_id ORDER BY admitted) AS next FROM stays)
SELECT COUNT(*) FILTER (WHERE next <= discharged + INTERVAL 30 DAY) / COUNT(*) AS readmitted
FROM following WHERE discharged < '2024-12-01';

-- question: readmission within 30 days by ward, with EXISTS
-- by: ward
SELECT s.ward, COUNT(*) AS stays, AVG(EXISTS (
           SELECT 1 FROM stays r WHERE r.patient_id = s.patient_id AND r.admitted > s.discharged
           AND r.admitted <= s.discharged + INTERVAL 30 DAY)::INT) AS readmitted
FROM stays s GROUP BY s.ward ORDER BY s.ward;

-- question: readmission within 30 days by age band, with a self-join
-- by: band
SELECT date_diff('year', p.born, a.admitted) // 20 * 20 AS band, COUNT(DISTINCT a.stay_id) AS readmitted
FROM patients p JOIN stays a USING (patient_id)
JOIN stays b ON b.patient_id = a.patient_id AND b.admitted BETWEEN a.discharged AND a.discharged + INTERVAL 30 DAY
GROUP BY band ORDER BY band;

-- question: mean glucose by age band
-- by: band
SELECT CASE WHEN age < 18 THEN '0-17' WHEN age < 40 THEN '18-39' WHEN age < 65 THEN '40-64' ELSE '65+' END AS band,
       AVG(value) AS glucose
FROM (SELECT l.value, date_diff('year', p.born, l.taken_at) AS age
      FROM labs l JOIN patients p USING (patient_id) WHERE l.test = 'glucose')
GROUP BY band ORDER BY band;

-- question: lab values by test
-- by: test
SELECT test, COUNT(*) AS n, AVG(value) AS mean, STDDEV(value) AS deviation FROM labs GROUP BY test ORDER BY test;

-- question: percentiles of lab values by test
-- by: test
SELECT test, QUANTILE_CONT(value, 0.05) AS p5, QUANTILE_CONT(value, 0.5) AS p50, QUANTILE_CONT(value, 0.95) AS p95
FROM labs GROUP BY test ORDER BY test;

-- question: share of high glucose by sex
-- by: sex
SELECT p.sex, AVG(CASE WHEN l.value > 126 THEN 1.0 ELSE 0.0 END) AS high
FROM labs l JOIN patients p ON p.patient_id = l.patient_id WHERE l.test = 'glucose' GROUP BY p.sex ORDER BY p.sex;

-- question: last glucose of each patient
-- by: sex
SELECT p.sex, AVG(l.value) AS last_glucose
FROM (SELECT patient_id, arg_max(value, taken_at) AS value FROM labs WHERE test = 'glucose' GROUP BY patient_id) l
JOIN patients p USING (patient_id) GROUP BY p.sex ORDER BY p.sex;

-- question: change from first to last crp in a stay
SELECT AVG(last - first) AS change, COUNT(*) AS stays FROM (
    SELECT patient_id, stay_id, first(value ORDER BY taken_at) AS first, last(value ORDER BY taken_at) AS last
    FROM labs WHERE test = 'crp' GROUP BY patient_id, stay_id HAVING COUNT(*) > 1);

-- question: hours from admission to the first lab by ward
-- by: ward
SELECT ward, AVG(hours) AS hours FROM (
    SELECT s.stay_id, s.ward, date_diff('minute', s.admitted, MIN(l.taken_at)) / 60 AS hours
    FROM stays s JOIN labs l ON l.stay_id = s.stay_id GROUP BY s.stay_id, s.ward, s.admitted)
GROUP BY ward ORDER BY ward;

-- question: admissions by month
-- by: month
SELECT date_trunc('month', admitted) AS month, COUNT(*) AS admissions, COUNT(DISTINCT patient_id) AS patients
FROM stays GROUP BY month ORDER BY month;

-- question: urgent admissions by hour
-- by: hour
SELECT extract('hour' FROM admitted) AS hour, COUNT(*) AS n, AVG(urgent::INT) AS urgent FROM stays GROUP BY hour ORDER BY hour;

-- question: weekly admissions, moving average
-- by: week
SELECT week, AVG(n) OVER (ORDER BY week ROWS 3 PRECEDING) AS average
FROM (SELECT date_trunc('week', admitted) AS week, COUNT(*) AS n FROM stays GROUP BY week) ORDER BY week;

-- question: beds occupied by day
-- by: day
SELECT d.day, COUNT(*) AS occupied
FROM stays s JOIN (SELECT UNNEST(generate_series(DATE '2024-03-01', DATE '2024-03-31', INTERVAL 1 DAY)) AS day) d
  ON d.day >= s.admitted AND (d.day < s.discharged OR s.discharged IS NULL)
GROUP BY d.day ORDER BY d.day;

-- question: patients now in each ward, beside its beds
-- by: ward, beds
SELECT w.ward, w.beds, COUNT(s.stay_id) AS patients, COUNT(s.stay_id) / w.beds AS load
FROM wards w LEFT JOIN stays s ON s.ward = w.ward AND s.discharged IS NULL
GROUP BY w.ward, w.beds ORDER BY w.ward;

-- question: cost by building and ward with totals
-- by: building, ward
SELECT w.building, s.ward, SUM(s.cost) AS cost, COUNT(*) AS stays
FROM stays s JOIN wards w USING (ward) GROUP BY ROLLUP (w.building, s.ward) ORDER BY ALL;

-- question: cost of a patient, percentiles
SELECT QUANTILE_CONT(cost, [0.25, 0.5, 0.75, 0.95]) AS quartiles
FROM (SELECT patient_id, SUM(cost) AS cost FROM stays GROUP BY patient_id);

-- question: cost a day by ward
-- by: ward
SELECT ward, SUM(cost) / SUM(date_diff('day', admitted, discharged)) AS cost_per_day
FROM stays WHERE discharged IS NOT NULL GROUP BY ward ORDER BY ward;

-- question: outcomes
-- by: outcome
SELECT COALESCE(outcome, 'still here') AS outcome, COUNT(*) AS stays,
       COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM stays GROUP BY 1 ORDER BY 2 DESC;

-- question: mortality by age band
-- by: band
SELECT date_diff('year', p.born, s.admitted) // 10 * 10 AS band, COUNT(*) FILTER (WHERE s.outcome = 'died') / COUNT(*) AS died
FROM stays s JOIN patients p USING (patient_id) GROUP BY band ORDER BY band;

-- question: age and length of stay
SELECT CORR(date_diff('year', p.born, s.admitted), date_diff('hour', s.admitted, s.discharged)) AS r,
       REGR_SLOPE(date_diff('hour', s.admitted, s.discharged), date_diff('year', p.born, s.admitted)) AS hours_per_year
FROM stays s JOIN patients p USING (patient_id);

-- question: top diagnoses
-- by: code
SELECT code, COUNT(*) AS n FROM diagnoses WHERE main GROUP BY code ORDER BY n DESC LIMIT 10;

-- question: diagnoses that come together
-- by: a, b
SELECT a.code AS a, b.code AS b, COUNT(*) AS stays
FROM diagnoses a JOIN diagnoses b ON a.stay_id = b.stay_id AND a.code < b.code
GROUP BY 1, 2 ORDER BY stays DESC LIMIT 15;

-- question: diagnoses a stay, by ward
-- by: ward
SELECT s.ward, AVG(n) AS diagnoses FROM stays s JOIN (SELECT stay_id, COUNT(*) AS n FROM diagnoses GROUP BY stay_id) d
USING (stay_id) GROUP BY s.ward ORDER BY s.ward;

-- question: length of stay of diabetics
-- by: diabetic
SELECT stay_id IN (SELECT stay_id FROM diagnoses WHERE code = 'E11') AS diabetic,
       AVG(date_diff('day', admitted, discharged)) AS days FROM stays GROUP BY diabetic;

-- question: smokers among patients with I25
-- by: smoker
SELECT p.smoker, COUNT(DISTINCT p.patient_id) AS patients
FROM patients p JOIN stays s USING (patient_id) JOIN diagnoses d USING (stay_id) WHERE d.code = 'I25' GROUP BY p.smoker;

-- question: age pyramid
-- by: age, sex
SELECT (DATE '2024-12-31' - born) // 3652 * 10 AS age, sex, COUNT(*) AS patients FROM patients GROUP BY age, sex ORDER BY age, sex;

-- question: patients of each postcode
-- by: postcode
SELECT postcode, COUNT(*) AS patients, RANK() OVER (ORDER BY COUNT(*) DESC) AS place
FROM patients GROUP BY postcode ORDER BY place LIMIT 10;

-- question: patients with several stays
SELECT AVG(n) AS stays, MAX(n) AS most, COUNT(*) FILTER (WHERE n >= 3) AS frequent
FROM (SELECT patient_id, COUNT(*) AS n FROM stays GROUP BY patient_id);

-- question: share of patients who change the ward
SELECT AVG((wards > 1)::INT) AS moved FROM (SELECT patient_id, COUNT(DISTINCT ward) AS wards FROM stays GROUP BY patient_id);
