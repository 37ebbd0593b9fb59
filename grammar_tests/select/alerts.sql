-- The numbers that private alerts compare.

-- case: the number of a question
-- outcome: accepted
SELECT COUNT(*) FROM visits WHERE visited_on = DATE '2024-11-03';

-- case: how far private rows are from a public mean
-- outcome: accepted
SELECT SUM(smoker::INTEGER - 0.31) FROM patients;

-- case: the mean of a holdout
-- outcome: accepted
SELECT AVG(age) FROM patients WHERE age < 100;
