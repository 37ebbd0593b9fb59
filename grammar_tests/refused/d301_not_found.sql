-- D301: what a private choice of a range does not bound either. No other case finds a bound that would help.

-- case: an exponential of what may be large
-- outcome: refused D301 at 1:12
-- policy: finds.toml
SELECT SUM(exp(visit_id)) FROM visits;

-- case: the logarithm of what may be zero
-- outcome: refused D301 at 1:12
-- policy: finds.toml
SELECT SUM(ln(income)) FROM patients;

-- case: a ratio whose divisor may be zero
-- outcome: refused D301 at 1:12
-- policy: finds.toml
-- instead: SELECT SUM(income / age CLAMPED BETWEEN 0 AND 50000) AS rate FROM patients
SELECT SUM(income / age) AS rate FROM patients;

-- case: a sum of texts
-- outcome: refused D205
-- policy: finds.toml
SELECT SUM(city) FROM patients;

-- case: a number in a text
-- outcome: refused D301 at 1:8
-- policy: finds.toml
SELECT SUM(city::DOUBLE) FROM patients;

-- case: a released sum has no range, and none is looked for
-- outcome: refused D301
-- policy: finds.toml
SELECT SUM(age - (SELECT SUM(age) FROM patients)) FROM patients;

-- case: more rows than a unit may have, whatever is found
-- outcome: refused D303 at 1:67
-- policy: finds.toml
SELECT COUNT(*) FROM calls a JOIN calls b USING (patient_id) JOIN calls c USING (patient_id);

-- case: the numbers of units
-- outcome: refused D301 at 1:12
-- policy: finds.toml
SELECT SUM(patient_id) FROM patients;

-- case: an accuracy that rests on a range nobody knows
-- outcome: refused D301 at 1:16
-- policy: finds.toml
-- instead: SELECT OPTIONS(epsilon = 1) SUM(place_id) FROM visits
SELECT OPTIONS(within = 50) SUM(place_id) FROM visits;
