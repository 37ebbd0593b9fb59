-- An accuracy in the place of a price: the least epsilon that reaches it.

-- case: a count within fifty
-- outcome: accepted
-- cost: 0.1594
-- plain: SELECT COUNT(*) FROM patients
SELECT OPTIONS(within = 50) COUNT(*) FROM patients;

-- case: every group of a count, in 99 of 100 cases
-- outcome: accepted
-- cost: 0.5544
-- plain: SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward
SELECT OPTIONS(within = 20, confidence = 0.99) ward, COUNT(*) AS n FROM patients GROUP BY ward;

-- case: counts and sums, the sums deciding
-- outcome: accepted
-- cost: 7.297
-- plain: SELECT kind, COUNT(*) AS n, SUM(minutes) AS m FROM visits GROUP BY kind
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(within = 20000) kind, COUNT(*) AS n, SUM(minutes) AS m FROM visits GROUP BY kind;

-- case: groups that are not public
-- outcome: accepted
-- cost: 0.7017
-- plain: SELECT city, COUNT(*) AS n FROM patients GROUP BY city
SELECT OPTIONS(within = 12) city, COUNT(*) AS n FROM patients GROUP BY city;

-- case: chosen and ordered outside
-- outcome: accepted
-- cost: 0.845
-- plain: SELECT ward, n FROM (SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward) ORDER BY n DESC, ward
SELECT ward, n FROM (SELECT OPTIONS(within = 10) ward, COUNT(*) AS n FROM patients GROUP BY ward) ORDER BY n DESC, ward;

-- case: under pure privacy
-- outcome: accepted
-- cost: 0.5382
-- policy: pure.toml
-- plain: SELECT COUNT(*) FROM patients
SELECT OPTIONS(within = 5) COUNT(*) FROM patients;

-- case: a count of different values
-- outcome: accepted
-- cost: 0.5779
-- plain: SELECT COUNT(DISTINCT city) AS n FROM patients
SELECT OPTIONS(within = 15) COUNT(DISTINCT city) AS n FROM patients;
