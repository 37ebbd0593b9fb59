-- What a model is not fitted to.

-- case: a model of public rows
-- outcome: refused D252 at 1:33
-- instead: SELECT * FROM DP_LINEAR((SELECT age, smoker FROM patients))
SELECT * FROM DP_LINEAR((SELECT 1, 2));

-- case: a model of released rows
-- outcome: refused D252 at 1:37
-- instead: SELECT * FROM DP_COVARIANCE((SELECT age, income FROM patients))
SELECT * FROM DP_COVARIANCE((SELECT AVG(age), AVG(income) FROM patients GROUP BY ward));

-- case: a model of a table's name
-- outcome: refused D252 at 1:15
-- instead: SELECT * FROM DP_LINEAR((SELECT age, income FROM patients))
SELECT * FROM DP_LINEAR(patients);

-- case: a model of one column
-- outcome: refused D252 at 1:33
-- instead: SELECT * FROM DP_LINEAR((SELECT income, age FROM patients))
SELECT * FROM DP_LINEAR((SELECT income FROM patients));

-- case: a model with more terms than are answered
-- outcome: refused D252 at 2:12
-- instead: SELECT * FROM DP_COVARIANCE((SELECT age, income, children BETWEEN 1 AND 2 AS few FROM patients))
SELECT * FROM DP_COVARIANCE((
    SELECT age + 1, age + 2, age + 3, age + 4, age + 5, age + 6, age + 7, age + 8, age + 9, age + 10,
           age + 11, age + 12, age + 13, age + 14, age + 15, age + 16, age + 17, age + 18, age + 19,
           age + 20, age + 21, age + 22, age + 23, age + 24, age + 25, age + 26, age + 27, age + 28,
           age + 29, age + 30, age + 31, age + 32, age + 33, age + 34, age + 35, age + 36, age + 37,
           age + 38, age + 39, age + 40, age + 41, age + 42, age + 43, age + 44, age + 45, age + 46,
           age + 47, age + 48, age + 49, age + 50, age + 51, age + 52, age + 53, age + 54, age + 55,
           age + 56, age + 57, age + 58, age + 59, age + 60, age + 61, age + 62, age + 63, age + 64,
           age + 65, age + 66, age + 67, age + 68, age + 69, age + 70, age + 71, age + 72, age + 73,
           age + 74, age + 75, age + 76, age + 77, age + 78, age + 79, age + 80, age + 81, age + 82,
           age + 83, age + 84, age + 85, age + 86, age + 87, age + 88, age + 89, age + 90, age + 91,
           age + 92, age + 93, age + 94, age + 95, age + 96, age + 97, age + 98, age + 99, age + 100,
           age + 101
    FROM patients));

-- case: weights inside a model
-- outcome: refused D252 at 1:41
-- instead: SELECT * FROM DP_LINEAR((SELECT income, age FROM patients))
SELECT * FROM DP_LINEAR((SELECT OPTIONS(weights = [1, 2]) income, age FROM patients));

-- case: the accuracy of a model
-- outcome: refused D252 at 1:16
-- instead: SELECT OPTIONS(epsilon = 1) coefficient FROM DP_LINEAR((SELECT income, age FROM patients))
SELECT OPTIONS(within = 5) coefficient FROM DP_LINEAR((SELECT income, age FROM patients));

-- case: the first rows of a model
-- outcome: refused D252 at 1:65
-- instead: SELECT * FROM DP_LINEAR((SELECT income, age FROM patients)) ORDER BY coefficient LIMIT 1
SELECT * FROM DP_LINEAR((SELECT income, age FROM patients LIMIT 5));

-- case: a clip of a logistic fit that is chosen
-- outcome: refused D252 at 1:43
-- instead: SELECT * FROM DP_LOGISTIC((SELECT OPTIONS(max_rows_contributed = 5) urgent, minutes FROM visits))
SELECT * FROM DP_LOGISTIC((SELECT OPTIONS(max_rows_contributed = auto) urgent, minutes FROM visits));

-- case: steps of a fit that has none
-- outcome: refused D252 at 1:41
-- instead: SELECT * FROM DP_LINEAR((SELECT income, age FROM patients))
SELECT * FROM DP_LINEAR((SELECT OPTIONS(steps = 5) income, age FROM patients));

-- case: steps of a query that fits nothing
-- outcome: refused D252 at 1:16
-- instead: SELECT COUNT(*) FROM patients
SELECT OPTIONS(steps = 5) COUNT(*) FROM patients;

-- case: steps of a query over a fit
-- outcome: refused D252 at 1:16
-- instead: SELECT term FROM DP_LOGISTIC((SELECT OPTIONS(steps = 5) smoker, age FROM patients))
SELECT OPTIONS(steps = 5) term FROM DP_LOGISTIC((SELECT smoker, age FROM patients));
