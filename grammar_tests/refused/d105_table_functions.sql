-- What stands beside a table function.

-- case: the numbers of a model's rows
-- outcome: refused D105 at 1:15
-- instead: SELECT m.*, ROW_NUMBER() OVER (ORDER BY coefficient) AS place FROM DP_LINEAR((SELECT income, age FROM patients)) AS m
SELECT * FROM DP_LINEAR((SELECT income, age FROM patients)) WITH ORDINALITY;

-- case: a model in a schema
-- outcome: refused D105 at 1:15
-- instead: SELECT * FROM DP_COVARIANCE((SELECT income, age FROM patients)) AS m
SELECT * FROM main.DP_COVARIANCE((SELECT income, age FROM patients));

-- case: the numbers of a series' rows
-- outcome: refused D105 at 1:15
-- instead: SELECT i FROM range(3) AS r(i)
SELECT * FROM range(3) WITH ORDINALITY;
