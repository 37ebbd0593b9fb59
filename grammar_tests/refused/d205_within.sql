-- D205: accuracies that mean nothing.

-- case: within less than nothing
-- outcome: refused D205 at 1:16
-- instead: SELECT OPTIONS(within = 50) COUNT(*) FROM patients
SELECT OPTIONS(within = -1) COUNT(*) FROM patients;

-- case: within nothing
-- outcome: refused D205 at 1:16
SELECT OPTIONS(within = 0) COUNT(*) FROM patients WHERE smoker;

-- case: within a word
-- outcome: refused D205 at 1:16
SELECT OPTIONS(within = 'near') COUNT(*) FROM patients;

-- case: within all of it
-- outcome: refused D205 at 1:16
SELECT OPTIONS(within = '100%') COUNT(*) FROM patients;

-- case: within no number
-- outcome: refused D205 at 1:16
SELECT OPTIONS(within = 1e999) COUNT(*) FROM visits;

-- case: surer than sure
-- outcome: refused D205 at 1:28
-- instead: SELECT OPTIONS(within = 5, confidence = 0.95) COUNT(*) FROM patients
SELECT OPTIONS(within = 5, confidence = 2) COUNT(*) FROM patients;

-- case: quite sure, in words
-- outcome: refused D205 at 1:28
SELECT OPTIONS(within = 5, confidence = 'high') COUNT(*) FROM patients;

-- case: a confidence of rare events
-- outcome: refused D205 at 1:28
SELECT OPTIONS(within = 5, confidence = 0.999999) COUNT(*) FROM visits;
