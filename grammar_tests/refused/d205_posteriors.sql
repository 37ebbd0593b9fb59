-- D205: a posterior of what is no pair of released numbers.

-- case: the posterior of an average
-- outcome: refused D205 at 1:8
-- instead: SELECT COUNT(*) FILTER (WHERE smoker) AS yes, COUNT(*) FILTER (WHERE NOT smoker) AS no, DP_BETA(yes, no) FROM patients
SELECT DP_BETA(AVG(age), COUNT(*)) FROM patients;

-- case: the posterior of a product of counts
-- outcome: refused D205 at 1:23
SELECT COUNT(*) AS n, DP_BETA(n * n, n) FROM patients;

-- case: the posterior of a key
-- outcome: refused D205 at 1:14
SELECT ward, DP_BETA(ward, COUNT(*)) FROM patients GROUP BY ward;

-- case: the posterior of private values
-- outcome: refused D205 at 1:12
SELECT SUM(DP_NORMAL(age, age, 1)) FROM patients;

-- case: the posterior of two constants
-- outcome: refused D205 at 1:18
SELECT COUNT(*), DP_BETA(3, 4) FROM patients;

-- case: the posterior of public numbers
-- outcome: refused D205 at 1:8
-- instead: SELECT DP_GAMMA(events, exposure) FROM (SELECT COUNT(*) AS events, SUM(minutes) AS exposure FROM visits)
SELECT DP_GAMMA(beds, floor) FROM wards;

-- case: the posterior of sums over groups
-- outcome: refused D205 at 1:8
-- instead: SELECT COUNT(*) FILTER (WHERE smoker) AS yes, COUNT(*) FILTER (WHERE NOT smoker) AS no, DP_BETA(yes, no) FROM patients
SELECT DP_BETA(SUM(yes), SUM(n)) FROM (SELECT ward, COUNT(*) AS n, COUNT(*) FILTER (WHERE smoker) AS yes FROM patients GROUP BY ward);

-- case: the posterior of numbers of two releases
-- outcome: refused D205 at 1:8
SELECT DP_BETA(a.n, b.n) FROM (SELECT COUNT(*) AS n FROM patients) a, (SELECT COUNT(*) AS n FROM visits) b;

-- case: a posterior with one number
-- outcome: refused D205 at 1:8
SELECT DP_BETA(COUNT(*)) FROM patients;

-- case: a mean without the deviation of values
-- outcome: refused D205 at 1:8
-- instead: SELECT SUM(age) AS total, COUNT(age) AS n, DP_NORMAL(total, n, 12.5) FROM patients
SELECT DP_NORMAL(SUM(age), COUNT(age)) FROM patients;

-- case: a prior that has all its weight at the ends
-- outcome: refused D205 at 1:84
-- instead: SELECT DP_BETA(COUNT(*) FILTER (WHERE smoker), COUNT(*) FILTER (WHERE NOT smoker), 0.25, 1) FROM patients
SELECT DP_BETA(COUNT(*) FILTER (WHERE smoker), COUNT(*) FILTER (WHERE NOT smoker), 0, 1) FROM patients;

-- case: a deviation that is a column
-- outcome: refused D205 at 1:38
-- instead: SELECT DP_NORMAL(SUM(age), COUNT(age), 12.5) FROM patients
SELECT DP_NORMAL(SUM(age), COUNT(*), age) FROM patients;

-- case: the posterior of counts of a private view
-- outcome: refused D205 at 1:8
-- instead: SELECT DP_BETA(COUNT(*) FILTER (WHERE sex = 'F'), COUNT(*) FILTER (WHERE sex <> 'F')) AS share FROM patients
SELECT DP_BETA(COUNT(*) FILTER (WHERE sex = 'F'), COUNT(*) FILTER (WHERE sex <> 'F')) FROM headcounts;

-- case: the posterior of single counts of a private view
-- outcome: refused D205 at 1:13
-- instead: SELECT sex, DP_NORMAL(SUM(age), COUNT(*), 20) AS mean FROM patients GROUP BY sex
SELECT sex, DP_NORMAL(n, n, 20) FROM headcounts;
