Options that there are not, and aggregates that are not answered.

-- case: an option of another engine
-- outcome: refused D105 at 1:16
-- instead: SELECT OPTIONS(epsilon = 0.5) COUNT(*) FROM patients
SELECT OPTIONS(noise = 'none') COUNT(*) FROM patients;

-- case: a seed
-- outcome: refused D105 at 2:47
SELECT WITH DIFFERENTIAL_PRIVACY
    OPTIONS(epsilon = 1, delta = 1e-7,        seed = 3) COUNT(*) FROM patients;


-- case: a strategy for groups
-- outcome: refused D105 at 1:16
-- instead: SELECT city, COUNT(*) FROM patients GROUP BY city
SELECT OPTIONS(group_selection_strategy = PUBLIC_GROUPS) city, COUNT(*) FROM patients GROUP BY city;

-- case: a threshold of one's own
-- outcome: refused D105 at 1:16
-- instead: SELECT city, COUNT(*) FROM patients GROUP BY city HAVING COUNT(DISTINCT patient_id) >= 50
SELECT OPTIONS(min_privacy_units_per_group = 1) city, COUNT(*) FROM patients GROUP BY city;

-- case: an option twice
-- outcome: refused D105 at 1:29
-- instead: SELECT OPTIONS(epsilon = 1) COUNT(*) FROM patients WHERE smoker
SELECT OPTIONS(epsilon = 1, EPSILON = 1) COUNT(*) FROM patients WHERE smoker;

-- case: a computed value
-- outcome: refused D105 at 1:16
SELECT OPTIONS(epsilon = 1 + 1) COUNT(*) FROM patients WHERE insured;

-- case: a subquery as a value
-- outcome: refused D105 at 1:16
SELECT OPTIONS(max_rows_contributed = (SELECT COUNT(*) FROM visits)) COUNT(*) FROM visits;

-- case: a column as a number
-- outcome: refused D105 at 1:16
SELECT OPTIONS(epsilon = age) COUNT(*) FROM patients;

-- case: a star in parentheses
-- outcome: refused D105
SELECT ward, (*) FROM patients GROUP BY ward;

-- case: a tilde before a difference
-- outcome: refused D105 at 1:13
-- instead: SELECT SUM((~age) - 3) FROM patients
SELECT SUM(~age - 3) FROM patients;

-- case: anyway is no number
-- outcome: refused D105 at 1:16
-- instead: SELECT OPTIONS(anyway = true) COUNT(*) FROM patients
SELECT OPTIONS(anyway = 1) COUNT(*) FROM patients;

-- case: groups are not rows
-- outcome: refused D105 at 1:16
-- policy: finds.toml
-- instead: SELECT OPTIONS(max_rows_contributed = auto) kind, COUNT(*) AS n FROM visits GROUP BY kind
SELECT OPTIONS(max_groups_contributed = auto) kind, COUNT(*) AS n FROM visits GROUP BY kind;
