-- A clip that fits the query: chosen privately on its own rows, where the query asks for it.

-- case: a count of rows
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT COUNT(*) AS n FROM visits
SELECT OPTIONS(max_rows_contributed = auto) COUNT(*) AS n FROM visits;

-- case: counts by a public key
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind
SELECT OPTIONS(max_rows_contributed = auto) kind, COUNT(*) AS n FROM visits GROUP BY kind;

-- case: sums of values, whose clip may be less than a row
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT kind, SUM(minutes) AS s FROM visits GROUP BY kind
SELECT OPTIONS(rows_per_unit = auto) kind, SUM(minutes) AS s FROM visits GROUP BY kind;

-- case: several aggregates, and conditions
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT COUNT(*) AS n, SUM(minutes) AS s, AVG(minutes) AS a, COUNT(*) FILTER (WHERE minutes > 60) AS long FROM visits
SELECT OPTIONS(max_rows_contributed = auto) COUNT(*) AS n, SUM(minutes) AS s, AVG(minutes) AS a, COUNT(*) FILTER (WHERE minutes > 60) AS long FROM visits;

-- case: private keys
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT place_id, COUNT(*) AS n FROM visits GROUP BY place_id
SELECT OPTIONS(max_rows_contributed = auto) place_id, COUNT(*) AS n FROM visits GROUP BY place_id;

-- case: grouping sets
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT kind, COUNT(*) AS n, SUM(minutes) AS s FROM visits GROUP BY ROLLUP (kind)
SELECT OPTIONS(max_rows_contributed = auto) kind, COUNT(*) AS n, SUM(minutes) AS s FROM visits GROUP BY ROLLUP (kind);

-- case: a join
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT p.ward, SUM(v.minutes) AS s FROM visits v JOIN patients p USING (patient_id) GROUP BY p.ward
SELECT OPTIONS(max_rows_contributed = auto) p.ward, SUM(v.minutes) AS s FROM visits v JOIN patients p USING (patient_id) GROUP BY p.ward;

-- case: a range that is found first
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT SUM(income) AS s FROM patients
SELECT OPTIONS(max_rows_contributed = auto) SUM(income) AS s FROM patients;

-- case: one row for each unit: nothing is chosen
-- outcome: accepted
-- policy: finds.toml
-- plain: SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward
SELECT OPTIONS(max_rows_contributed = auto) ward, COUNT(*) AS n FROM patients GROUP BY ward;
