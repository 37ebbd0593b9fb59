-- What identifies a unit is no term of a model.

-- case: the unit's key in a model
-- outcome: refused D403 at 1:38
-- instead: SELECT * FROM DP_LINEAR((SELECT age, income FROM patients))
SELECT * FROM DP_LINEAR((SELECT age, patient_id FROM patients));

-- case: all columns in a model
-- outcome: refused D403 at 1:33
-- instead: SELECT * FROM DP_LINEAR((SELECT age, income FROM patients))
SELECT * FROM DP_LINEAR((SELECT * FROM patients));

-- case: the key of rows in a model
-- outcome: refused D403 at 1:43
-- instead: SELECT * FROM DP_LINEAR((SELECT cost, minutes FROM visits))
SELECT * FROM DP_COVARIANCE((SELECT cost, patient_id + 1 FROM visits));
