-- Values that break ranges: what is no number, NULL, overflow, branches, casts, dates.

-- case: one NaN in a sum
-- attack: not a number
-- outcome: accepted
SELECT SUM(income) AS s, AVG(income) AS a FROM patients WHERE age > 40;

-- case: infinities that meet
-- attack: not a number
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(income - income, 0), 10)) AS s FROM patients;

-- case: NaN as the greater of two
-- attack: not a number
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(score, 0), 1)) AS s FROM patients;

-- case: NaN in the lesser of two
-- attack: not a number
-- outcome: accepted
SELECT SUM(GREATEST(LEAST(score, 1), 0)) AS s FROM patients;

-- case: NaN as a key and a condition
-- attack: not a number
-- outcome: accepted
SELECT income > 100 AS rich, AVG(income) AS a FROM patients GROUP BY rich;

-- case: the root of what is negative
-- attack: not a number
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(sqrt(score), 0), 100)) AS s FROM patients;

-- case: NaN through a per-unit average
-- attack: not a number
-- outcome: accepted
SELECT AVG(m) AS a FROM (SELECT patient_id, AVG(cost) AS m FROM visits GROUP BY patient_id);

-- case: NaN through a window
-- attack: not a number
-- outcome: accepted
SELECT SUM(m) AS a FROM (SELECT MAX(cost) OVER (PARTITION BY patient_id) AS m FROM visits);

-- case: NULL clipped from below
-- attack: NULL in clips
-- outcome: accepted
SELECT SUM(GREATEST(0, LEAST(income, 200000))) AS s FROM patients;

-- case: NULL clipped from above
-- attack: NULL in clips
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(income, 0), 200000)) AS s, COUNT(*) AS n FROM patients;

-- case: NULL for the rows of an outer join
-- attack: NULL in clips
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(v.cost, 10), 20)) AS s FROM patients p LEFT JOIN visits v USING (patient_id);

-- case: NULL replaced outside the clip
-- attack: NULL in clips
-- outcome: accepted
SELECT SUM(COALESCE(LEAST(income, 10), 5)) AS s FROM patients;

-- case: the average of NULLs
-- attack: NULL in clips
-- outcome: accepted
SELECT AVG(NULLIF(age, age)) AS a FROM patients;

-- case: a division by what may be zero
-- attack: interval arithmetic
-- outcome: refused D301 at 1:12
SELECT SUM(1 / children) FROM patients;

-- case: a square of a difference
-- attack: interval arithmetic
-- outcome: accepted
SELECT SUM((age - 50) * (age - 50)) AS s FROM patients;

-- case: a remainder by a column
-- attack: interval arithmetic
-- outcome: accepted
SELECT SUM(minutes % age) AS s FROM visits JOIN patients USING (patient_id);

-- case: a power with an exponent from the data
-- attack: interval arithmetic
-- outcome: refused D301 at 1:12
SELECT SUM(pow(age, children)) FROM patients;

-- case: a logarithm of zero
-- attack: interval arithmetic
-- outcome: refused D301 at 1:12
SELECT SUM(ln(age)) AS s FROM patients;

-- case: a caret is a power
-- attack: interval arithmetic
-- outcome: accepted
SELECT SUM(age ^ 2) AS s FROM patients;

-- case: a sine of a wide column
-- attack: interval arithmetic
-- outcome: accepted
SELECT SUM(sin(score)) AS s FROM patients;

-- case: bits moved by a column
-- attack: interval arithmetic
-- outcome: refused D205 at 1:13
SELECT SUM((age << children) % 8) FROM patients;

-- case: a minus of a minus
-- attack: interval arithmetic
-- outcome: accepted
SELECT SUM(-(-age) - (0 - children)) AS s FROM patients;

-- case: a product with zero
-- attack: bounds that are not finite
-- outcome: accepted
SELECT SUM(income * 0) AS s FROM patients;

-- case: zero times what is not finite
-- attack: bounds that are not finite
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(score * 0, 0), 0)) AS s FROM patients;

-- case: a clip at infinity
-- attack: bounds that are not finite
-- outcome: refused D205 at 1:35
-- instead: SELECT SUM(LEAST(GREATEST(score, -400), 400)) FROM patients
SELECT SUM(LEAST(GREATEST(score, -1e400), 1e400)) FROM patients;

-- case: a clip whose ends are exchanged
-- attack: bounds that are not finite
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(score, 10), -10)) AS s FROM patients;

-- case: a clip at a column
-- attack: bounds that are not finite
-- outcome: refused D301 at 1:12
SELECT SUM(LEAST(GREATEST(score, income), income)) AS s FROM patients;

-- case: a bound in the aggregate that is no number
-- attack: bounds that are not finite
-- outcome: refused D101 at 1:18
SELECT SUM(score CLAMPED BETWEEN 'NaN' AND 5) FROM patients;

-- case: a large number for one
-- attack: branches with other bounds
-- outcome: accepted
SELECT SUM(CASE WHEN city = 'Longyearbyen' THEN 1e12 ELSE age END) AS s FROM patients;

-- case: a large number for NULL
-- attack: branches with other bounds
-- outcome: accepted
SELECT SUM(COALESCE(income, 999999999)) AS s FROM patients;

-- case: an unbounded branch that never happens
-- attack: branches with other bounds
-- outcome: refused D301 at 1:33
SELECT SUM(CASE WHEN FALSE THEN score ELSE age END) FROM patients;

-- case: a bound learnt from another branch
-- attack: branches with other bounds
-- outcome: refused D301 at 1:22
SELECT SUM(CASE WHEN score BETWEEN 0 AND 1 THEN score ELSE score END) FROM patients;

-- case: a bound learnt from a condition that OR weakens
-- attack: branches with other bounds
-- outcome: refused D301 at 1:12
SELECT SUM(score) FROM patients WHERE score BETWEEN 0 AND 1 OR smoker;

-- case: a bound learnt from an outer join's condition
-- attack: branches with other bounds
-- outcome: refused D301 at 1:12
SELECT SUM(p.score) FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id AND p.score BETWEEN 0 AND 1;

-- case: a bound learnt from HAVING
-- attack: branches with other bounds
-- outcome: refused D301 at 1:12
SELECT SUM(score) FROM patients HAVING SUM(score) BETWEEN 0 AND 100;

-- case: a bound learnt from a filter of another aggregate
-- attack: branches with other bounds
-- outcome: refused D301 at 1:59
SELECT COUNT(*) FILTER (WHERE score BETWEEN 0 AND 1), SUM(score) FROM patients;

-- case: a bound learnt from a condition holds
-- attack: branches with other bounds
-- outcome: accepted
SELECT SUM(score) AS s FROM patients WHERE score >= 0 AND score <= 1;

-- case: a bound learnt by QUALIFY of a window
-- attack: branches with other bounds
-- outcome: accepted
SELECT SUM(c) AS s FROM (SELECT patient_id, steps, LAG(minutes) OVER (PARTITION BY patient_id ORDER BY visit_id) AS c FROM visits QUALIFY c BETWEEN 0 AND 10);

-- case: a wide column under a narrow one's name
-- attack: names with other bounds
-- outcome: accepted
SELECT SUM(age) AS s FROM (SELECT income AS age FROM patients);

-- case: a list of names
-- attack: names with other bounds
-- outcome: refused D301 at 1:12
SELECT SUM(p.age) AS s FROM (SELECT patient_id, score, age FROM patients) AS p(id, age, score);

-- case: names exchanged by RENAME
-- attack: names with other bounds
-- outcome: refused D301 at 1:12
SELECT SUM(age) FROM (SELECT * RENAME (age AS score, score AS age) FROM patients);

-- case: a column of the other side of a union
-- attack: names with other bounds
-- outcome: accepted
SELECT SUM(x) AS s FROM (SELECT patient_id, age AS x FROM patients UNION ALL SELECT patient_id, cost FROM visits);

-- case: the wider side of USING
-- attack: names with other bounds
-- outcome: accepted
SELECT SUM(x) AS s FROM (SELECT patient_id, age AS x FROM patients) a FULL JOIN (SELECT patient_id, minutes AS x FROM visits) b USING (patient_id, x);

-- case: digits added to a text
-- attack: casts
-- outcome: refused D301 at 1:13
SELECT SUM((age::VARCHAR || '000000')::BIGINT) FROM patients;

-- case: a decimal that rounds beyond the bound
-- attack: casts
-- outcome: accepted
SELECT SUM(income::DECIMAL(18, 2)) AS s FROM patients;

-- case: a float that rounds beyond the bound
-- attack: casts
-- outcome: accepted
SELECT SUM(income::FLOAT) AS s FROM patients;

-- case: rounded to tens
-- attack: casts
-- outcome: accepted
SELECT SUM(round(income, -1)) AS s FROM patients;

-- case: a text that is no number
-- attack: casts
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(TRY_CAST(city AS INTEGER), 0), 100)) AS s FROM patients;

-- case: true and false as numbers
-- attack: casts
-- outcome: accepted
SELECT SUM(smoker::INTEGER * 1000000000) AS s FROM patients;

-- case: a product beyond BIGINT
-- attack: integer overflow
-- outcome: accepted
-- plain: SELECT SUM(LEAST(age::HUGEINT * 9000000000000000000, 100)) FROM patients;
SELECT SUM(LEAST(age * 9000000000000000000, 100)) FROM patients;

-- case: a product of wide columns
-- attack: integer overflow
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(steps * steps, 0), 100)) AS s FROM visits;

-- case: the negative of the smallest number
-- attack: integer overflow
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(-steps, 0), 100)) AS s FROM visits;

-- case: the absolute value of the smallest number
-- attack: integer overflow
-- outcome: accepted
SELECT SUM(LEAST(abs(steps), 100)) AS s FROM visits;

-- case: a sum of wide numbers
-- attack: integer overflow
-- outcome: refused D301 at 1:12
SELECT SUM(steps) FROM visits;

-- case: a per-unit sum of wide numbers
-- attack: integer overflow
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(s, 0), 100)) AS s FROM (SELECT patient_id, SUM(steps) AS s FROM visits GROUP BY patient_id);

-- case: a difference of two averages
-- attack: averages and spreads
-- outcome: accepted
SELECT AVG(age) - AVG(children) AS d, SUM(age) / COUNT(*) AS a FROM patients;

-- case: a covariance
-- attack: averages and spreads
-- outcome: accepted
SELECT covar_pop(age, income) FROM patients;

-- case: the spread around one unit
-- attack: averages and spreads
-- outcome: accepted
SELECT var_pop(income) FILTER (WHERE patient_id = 3) AS v, corr(age, income) FILTER (WHERE patient_id < 4) AS r FROM patients;

-- case: moments by hand
-- attack: averages and spreads
-- outcome: accepted
SELECT AVG(age * age) - AVG(age) * AVG(age) AS v FROM patients;

-- case: all rows of the heaviest
-- attack: many rows of one unit
-- outcome: accepted
SELECT SUM(minutes) AS s, COUNT(*) AS n FROM visits WHERE kind IN ('therapy', 'surgery');

-- case: rows over many groups
-- attack: many rows of one unit
-- outcome: accepted
SELECT place_id, kind, urgent, COUNT(*) AS n FROM visits GROUP BY place_id, kind, urgent;

-- case: the rows of one unit multiplied and grouped
-- attack: many rows of one unit
-- outcome: accepted
SELECT t.tag, SUM(v.cost) AS s FROM visits v JOIN place_tags t ON t.place_id = v.place_id GROUP BY t.tag;

-- case: large and small numbers in one sum
-- attack: the order of a sum
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(score, -1e15), 1e15) + 1) AS s FROM patients;

-- case: a per-unit sum of large and small numbers
-- attack: the order of a sum
-- outcome: accepted
SELECT SUM(s) AS s FROM (SELECT patient_id, SUM(cost * 1e6 + 0.1) AS s FROM visits GROUP BY patient_id);

-- case: an average that depends on ties
-- attack: the order of a sum
-- outcome: accepted
SELECT AVG(f) AS a FROM (SELECT FIRST_VALUE(cost) OVER (PARTITION BY patient_id ORDER BY kind) AS f FROM visits);

-- case: the first of tied rows
-- attack: the order of a sum
-- outcome: accepted
SELECT SUM(LEAST(minutes, 100)) AS s FROM (SELECT DISTINCT ON (patient_id) patient_id, minutes FROM visits ORDER BY patient_id, kind);

-- case: days to infinity
-- attack: dates
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(date_diff('day', born, DATE '2024-01-01'), 0), 40000)) AS s FROM patients;

-- case: the year of infinity
-- attack: dates
-- outcome: accepted
SELECT year(born) AS y, COUNT(*) AS n FROM patients GROUP BY y;

-- case: a date moved beyond its calendar
-- attack: dates
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE born + INTERVAL 9000 YEAR > DATE '2024-01-01';

-- case: two moments far apart
-- attack: dates
-- outcome: accepted
SELECT AVG(LEAST(GREATEST(date_diff('second', seen_at, TIMESTAMP '2024-01-01'), 0), 1000000)) AS a FROM visits;

-- case: a month of infinity as a key
-- attack: dates
-- outcome: accepted
SELECT date_trunc('month', visited_on) AS m, COUNT(*) AS n FROM visits GROUP BY m;

-- case: a date of the data in a date
-- attack: dates
-- outcome: accepted
SELECT SUM(epoch(seen_at)) AS s FROM visits;

-- case: the square of a count
-- attack: many rows of one unit
-- outcome: accepted
SELECT SUM(n * n) AS s FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);

-- case: a large number for a row that an outer join made
-- attack: branches with other bounds
-- outcome: accepted
SELECT SUM(CASE WHEN v.cost IS NULL THEN 1000000 ELSE 0 END) AS s FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id AND v.kind = 'x';

-- case: the days between the first and the last
-- attack: dates
-- outcome: accepted
SELECT SUM(d) AS d FROM (SELECT patient_id, date_diff('day', MIN(visited_on), MAX(visited_on)) AS d FROM visits GROUP BY patient_id) WHERE d BETWEEN 0 AND 3000;

-- case: a running total over ties
-- attack: the order of a sum
-- outcome: accepted
SELECT SUM(l) AS s FROM (SELECT SUM(cost) OVER (PARTITION BY patient_id ORDER BY cost) AS l FROM visits) WHERE l BETWEEN 0 AND 1000;

-- case: the second of tied rows
-- attack: the order of a sum
-- outcome: accepted
SELECT SUM(l) AS s FROM (SELECT NTH_VALUE(minutes, 2) OVER (PARTITION BY patient_id ORDER BY cost) AS l FROM visits);
