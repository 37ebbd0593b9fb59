-- Values of single rows: aggregates that return one, equalities that merge or split, views that hide one.

-- case: any value
-- attack: aggregates that return raw values
-- outcome: refused D253 at 1:8
SELECT any_value(city) FROM patients WHERE smoker;

-- case: the first
-- attack: aggregates that return raw values
-- outcome: refused D253 at 1:8
SELECT first(income ORDER BY age) FROM patients;

-- case: all of them
-- attack: aggregates that return raw values
-- outcome: refused D253 at 1:8
SELECT list(age) FROM patients WHERE sex = 'F';

-- case: a drawing of the curve
-- attack: aggregates that return raw values
-- outcome: refused D251 at 1:8
SELECT lttb(age, income, 5) FROM patients;

-- case: a quantile of one element
-- attack: aggregates that return raw values
-- outcome: accepted
-- oracle: no-meaning (where few rows lie beyond it, it is any value near them)
SELECT quantile_disc(income, 0.999) FROM patients;

-- case: an object of all
-- attack: aggregates that return raw values
-- outcome: refused D251 at 1:8
SELECT json_group_array(income) FROM patients;

-- case: the last one of each ward
-- attack: aggregates that return raw values
-- outcome: refused D253 at 1:14
-- instead: SELECT m, COUNT(*) AS n FROM (SELECT patient_id, LAST(age ORDER BY born) AS m FROM patients GROUP BY patient_id) GROUP BY m
SELECT ward, last(age ORDER BY patient_id) FROM patients GROUP BY ward;

-- case: the richest of each ward, through a per-unit maximum
-- attack: aggregates that return raw values
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT MAX(m) FROM (SELECT patient_id, MAX(cost) AS m FROM visits GROUP BY patient_id);

-- case: whether everybody, above a window
-- attack: aggregates that return raw values
-- outcome: refused D254 at 1:42
SELECT COUNT(*) FROM (SELECT patient_id, bool_or(smoker) OVER (PARTITION BY city) AS b FROM patients) WHERE b;

-- case: in a pivot
-- attack: aggregates that return raw values
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
PIVOT patients ON sex IN ('F') USING MAX(income) GROUP BY ward;

-- case: one's own largest is bounded like any value
-- attack: aggregates that return raw values
-- outcome: accepted
SELECT AVG(m) AS a FROM (SELECT patient_id, MAX(minutes) AS m FROM visits GROUP BY patient_id);

-- case: a collation that merges groups
-- attack: equality
-- outcome: refused D105 at 1:8
SELECT city COLLATE NOCASE AS c, COUNT(*) FROM patients GROUP BY c;

-- case: a collation in a join
-- attack: equality
-- outcome: refused D105 at 1:50
SELECT COUNT(*) FROM patients p JOIN places l ON p.city COLLATE NOACCENT = l.city;

-- case: groups of what is not a number
-- attack: equality
-- outcome: accepted
SELECT score, COUNT(*) AS n FROM patients GROUP BY score;

-- case: units by what is not a number
-- attack: equality
-- outcome: accepted
SELECT COUNT(*) FROM patients a JOIN patients b ON a.patient_id = b.patient_id AND a.score = b.score AND a.score > 1;

-- case: negative zero and zero as keys
-- attack: equality
-- outcome: accepted
SELECT income, COUNT(*) AS n FROM patients WHERE income = 0 GROUP BY income;

-- case: blanks behind a key
-- attack: equality
-- outcome: accepted
SELECT city, COUNT(*) AS n FROM patients WHERE city IN ('Oslo', 'Oslo ', 'oslo') GROUP BY city;

-- case: a key in small letters
-- attack: equality
-- outcome: accepted
SELECT lower(ward) AS w, COUNT(*) AS n FROM patients GROUP BY w;

-- case: a unit compared with a wider type
-- attack: equality
-- outcome: refused D401 at 1:43
SELECT COUNT(*) AS n FROM patients p JOIN sales.orders o ON p.patient_id::DOUBLE = o.patient_id::DOUBLE;

-- case: a unit that the view leaves to its group
-- attack: views and pivots
-- outcome: accepted
SELECT n, COUNT(*) AS units FROM spending GROUP BY n;

-- case: the view's number of each unit
-- attack: views and pivots
-- outcome: accepted
-- oracle: no-meaning (a few values lie beyond an extreme)
SELECT MAX(spent) FROM spending;

-- case: a view of releases is free of its units
-- attack: views and pivots
-- outcome: accepted
SELECT AVG(n) AS n, MAX(mean_age) AS a FROM ward_sizes;

-- case: a view tied to its own table on another column
-- attack: views and pivots
-- outcome: refused D401 at 1:35
SELECT COUNT(*) FROM stays s JOIN adults a ON a.ward = s.ward;

-- case: a view of one's own in EXISTS
-- attack: views and pivots
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM spending s WHERE s.patient_id = p.patient_id AND s.n > 2);

-- case: a pivot that reads its keys from rows
-- attack: views and pivots
-- outcome: refused D101 at 1:53
SELECT * FROM patients PIVOT (COUNT(*) FOR city IN (SELECT city FROM patients));

-- case: a pivot whose groups are all other columns
-- attack: views and pivots
-- outcome: refused D403
PIVOT visits ON kind IN ('checkup', 'surgery') USING SUM(cost);

-- case: a pivot over listed values is a release
-- attack: views and pivots
-- outcome: accepted
PIVOT stays ON sex IN ('F', 'M') USING SUM(price) AS price GROUP BY kind;

-- case: keys of two columns in one
-- attack: equality
-- outcome: accepted
SELECT x, COUNT(*) AS n FROM (SELECT patient_id, CASE WHEN age > 40 THEN ward ELSE city END AS x FROM patients) GROUP BY x;

-- case: the greater of two texts as a key
-- attack: equality
-- outcome: accepted
SELECT greatest(ward, sex) AS k, COUNT(*) AS n FROM patients GROUP BY k;

-- case: a pivot of each unit, aggregated once more
-- attack: views and pivots
-- outcome: accepted
SELECT AVG(LEAST(checkup, 100)) AS a FROM (PIVOT (SELECT patient_id, kind, cost FROM visits) ON kind IN ('checkup', 'surgery') USING MAX(cost) GROUP BY patient_id);

-- case: a pivot of each unit, shown
-- attack: views and pivots
-- outcome: refused D403
PIVOT (SELECT patient_id, kind, cost FROM visits) ON kind IN ('checkup', 'surgery') USING MAX(cost) GROUP BY patient_id;
