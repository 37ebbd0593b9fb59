-- D303: a join may multiply private rows too often.

-- case: a long range crossed in
-- outcome: refused D303 at 1:32
-- instead: SELECT COUNT(*) FROM patients, range(100) AS r(i)
SELECT COUNT(*) FROM patients, range(20000) AS r(i);

-- case: a long range, joined for some
-- outcome: refused D303 at 1:38
-- instead: SELECT COUNT(*) FROM patients p JOIN range(2000) AS r(i) ON p.city = 'Longyearbyen'
SELECT COUNT(*) FROM patients p JOIN range(20000000) AS r(i) ON p.city = 'Longyearbyen';

-- case: a long range, left joined
-- outcome: refused D303 at 1:43
SELECT COUNT(i) FROM patients p LEFT JOIN range(50000) AS r(i) ON i <= p.age;

-- case: two ranges together
-- outcome: refused D303 at 1:52
-- instead: SELECT SUM(s) FROM (SELECT SUM(age) AS s FROM patients), range(200) AS a(i), range(200) AS b(j)
SELECT SUM(age) FROM patients, range(200) AS a(i), range(200) AS b(j);

-- case: a long series from a subquery
-- outcome: refused D303 at 2:34
WITH n AS (SELECT a.generate_series AS k FROM generate_series(1, 300) AS a, generate_series(1, 300) AS b)
SELECT COUNT(*) FROM visits JOIN n ON n.k > minutes;

-- case: as many copies as groups are released
-- outcome: refused D303 at 1:59
SELECT SUM(p.age) AS s FROM patients p CROSS JOIN (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) c;

-- case: two long lists of a row
-- outcome: refused D303 at 1:111
-- instead: SELECT OPTIONS(max_unnest = 10) COUNT(*) FROM answers, unnest(string_split(choices, ';')) AS u(c), unnest(scores) AS v(d)
SELECT OPTIONS(max_unnest = 500) COUNT(*) AS n FROM answers, unnest(string_split(choices, ';')) AS u(choice), unnest(scores) AS v(score);

-- case: a person's rows joined with each other again and again
-- outcome: refused D303 at 3:72
-- instead: SELECT COUNT(*) FROM visits a JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS b USING (patient_id)
SELECT COUNT(*) FROM visits a
JOIN visits b USING (patient_id) JOIN visits c USING (patient_id) JOIN visits d USING (patient_id)
JOIN visits e USING (patient_id) JOIN visits f USING (patient_id) JOIN visits g USING (patient_id);

-- case: copies that UNION ALL makes, joined with each other
-- outcome: refused D303 at 3:35
-- instead: SELECT COUNT(*) FROM patients a JOIN patients b USING (patient_id)
WITH u AS (SELECT patient_id FROM patients UNION ALL SELECT patient_id FROM patients), two AS (SELECT a.patient_id FROM u a JOIN u b USING (patient_id)),
four AS (SELECT a.patient_id FROM two a JOIN two b USING (patient_id)), eight AS (SELECT a.patient_id FROM four a JOIN four b USING (patient_id))
SELECT COUNT(*) FROM eight a JOIN eight b USING (patient_id);

-- case: a person's rows compared with all that their joins make
-- outcome: refused D303 at 2:22
-- instead: SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.cost > a.cost)
SELECT COUNT(*) FROM visits a JOIN visits b USING (patient_id) JOIN visits c USING (patient_id) JOIN visits d USING (patient_id)
WHERE EXISTS (SELECT 1 FROM visits e JOIN visits f USING (patient_id) JOIN visits g USING (patient_id) WHERE e.patient_id = a.patient_id AND e.cost > a.cost);

-- case: a person's rows joined with each other, and with a range
-- outcome: refused D303 at 2:16
SELECT OPTIONS(max_rows_contributed = 1) COUNT(*)
FROM visits a, range(5000) AS r(i), visits b, visits c, visits d
WHERE a.patient_id = b.patient_id AND b.patient_id = c.patient_id AND c.patient_id = d.patient_id;

-- case: many times what joins make of a person's rows
-- outcome: refused D303
WITH m AS (SELECT a.patient_id FROM visits a JOIN visits b USING (patient_id) JOIN visits c USING (patient_id) JOIN visits d USING (patient_id) JOIN visits e USING (patient_id) JOIN visits f USING (patient_id))
SELECT COUNT(*) FROM (SELECT * FROM m UNION ALL SELECT * FROM m);
