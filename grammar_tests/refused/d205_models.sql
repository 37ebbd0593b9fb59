-- Columns of models that are no numbers.

-- case: a text that is predicted
-- outcome: refused D205 at 1:33
-- instead: SELECT * FROM DP_LINEAR((SELECT sex = 'F' AS is_f, age FROM patients))
SELECT * FROM DP_LINEAR((SELECT sex, age FROM patients));

-- case: a day that predicts
-- outcome: refused D205 at 1:38
-- instead: SELECT * FROM DP_LINEAR((SELECT age, date_diff('day', DATE '2020-01-01', born) AS days FROM patients))
SELECT * FROM DP_LINEAR((SELECT age, born FROM patients));

-- case: a list that predicts
-- outcome: refused D205 at 1:38
-- instead: SELECT * FROM DP_LINEAR((SELECT age, len(allergies) > 1 AS many FROM patients))
SELECT * FROM DP_LINEAR((SELECT age, allergies FROM patients));
