-- Columns of models of which nothing public says where their values are.

-- case: a number without a range in a model
-- outcome: refused D301 at 1:38
-- instead: SELECT * FROM DP_LINEAR((SELECT age, CASE WHEN income / age IS NOT NULL THEN LEAST(GREATEST(income / age, 0), 500) END AS x FROM patients))
SELECT * FROM DP_LINEAR((SELECT age, income / age AS x FROM patients));

-- case: a prediction without a range in a model
-- outcome: refused D301 at 1:33
-- instead: SELECT * FROM DP_LINEAR((SELECT CASE WHEN score IS NOT NULL THEN LEAST(GREATEST(score, 0), 500) END AS score, age FROM patients))
SELECT * FROM DP_LINEAR((SELECT score, age FROM patients));

-- case: a text without a list in a model
-- outcome: refused D301 at 1:38
-- instead: SELECT * FROM DP_LINEAR((SELECT age, city = 'a' AS is_a FROM patients))
SELECT * FROM DP_LINEAR((SELECT age, city FROM patients));
