-- The numbers that private alerts compare.

-- case: the number of a question
-- outcome: accepted
SELECT COUNT(*) FROM visits WHERE visited_on = DATE '2024-11-03';
