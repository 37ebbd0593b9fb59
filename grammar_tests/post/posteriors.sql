-- Posteriors of released numbers: DP_BETA, DP_GAMMA, DP_NORMAL. These cases ask what holds whatever the noise.

-- case: the share of smokers in each ward
-- outcome: accepted
-- oracle: no-meaning (plain DuckDB has no noise)
-- plain: SELECT ward, {'mean': 0.5, 'sd': 0.1, 'low': 0.3, 'high': 0.7} AS share FROM patients GROUP BY ward
SELECT ward, DP_BETA(COUNT(*) FILTER (WHERE smoker), COUNT(*) FILTER (WHERE NOT smoker)) AS share FROM patients GROUP BY ward;

-- case: one end of a posterior, with a prior
-- outcome: accepted
-- plain: SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE smoker) AS yes, true AS held FROM patients
SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE smoker) AS yes, DP_BETA(yes, n - yes, 0.5, 0.5).low < 1 AS held FROM patients;

-- case: a rate of events in an exposure
-- outcome: accepted
-- plain: SELECT kind, true AS held FROM visits GROUP BY kind
SELECT kind, DP_GAMMA(COUNT(*), SUM(minutes), 1, 0.5).high > 0 AS held FROM visits GROUP BY kind;

-- case: a mean of values of known deviation
-- outcome: accepted
-- plain: SELECT true AS held FROM patients GROUP BY ()
SELECT COALESCE(DP_NORMAL(SUM(age), COUNT(age), 20).sd > 0, true) AS held FROM patients;

-- case: a posterior of columns that subqueries pass through
-- outcome: accepted
-- plain: SELECT ward, true AS held FROM patients GROUP BY ward
WITH counts AS (SELECT ward, COUNT(*) AS n, COUNT(*) FILTER (WHERE smoker) AS yes FROM patients GROUP BY ward),
     pairs AS (SELECT ward AS w, yes, n - yes AS no FROM counts WHERE n IS NOT NULL)
SELECT p.w AS ward, DP_BETA(p.yes, p.no).mean < 1 AS held FROM pairs p WHERE DP_BETA(p.yes, p.no).high > 0;
