-- Columns of models that are no numbers.

-- case: a text that is predicted
-- outcome: refused D205 at 1:33
-- instead: SELECT * FROM DP_LINEAR((SELECT sex = 'F' AS is_f, age FROM patients))
SELECT * FROM DP_LINEAR((SELECT sex, age FROM patients));

-- case: a day that is predicted
-- outcome: refused D205 at 1:33
-- instead: SELECT * FROM DP_LINEAR((SELECT date_diff('day', DATE '2020-01-01', born) AS days, age FROM patients))
SELECT * FROM DP_LINEAR((SELECT born, age FROM patients));

-- case: a list that predicts
-- outcome: refused D205 at 1:38
-- instead: SELECT * FROM DP_LINEAR((SELECT age, len(allergies) > 1 AS many FROM patients))
SELECT * FROM DP_LINEAR((SELECT age, allergies FROM patients));

-- case: a number that a logistic fit predicts
-- outcome: refused D205 at 1:35
-- instead: SELECT * FROM DP_LOGISTIC((SELECT income > 10 AS is_so, age FROM patients))
SELECT * FROM DP_LOGISTIC((SELECT income, age FROM patients));

-- case: a text that a logistic fit predicts
-- outcome: refused D205 at 1:35
-- instead: SELECT * FROM DP_LOGISTIC((SELECT sex = 'F' AS is_so, age FROM patients))
SELECT * FROM DP_LOGISTIC((SELECT sex, age FROM patients));

-- case: steps of a logistic fit that are too many
-- outcome: refused D205 at 1:43
-- instead: SELECT * FROM DP_LOGISTIC((SELECT OPTIONS(steps = 8) smoker, age, sex FROM patients))
SELECT * FROM DP_LOGISTIC((SELECT OPTIONS(steps = 100) smoker, age, sex FROM patients));
