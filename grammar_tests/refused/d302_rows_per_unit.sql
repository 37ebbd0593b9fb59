-- D302: nothing says where clipping one unit's rows starts.

-- case: a count of rows
-- outcome: refused D302 at 1:8
-- instead: SELECT OPTIONS(max_rows_contributed = 20) COUNT(*) FROM calls
SELECT COUNT(*) FROM calls;

-- case: a sum
-- outcome: refused D302 at 1:8
SELECT SUM(seconds) FROM calls WHERE seconds > 30;

-- case: by group
-- outcome: refused D302 at 1:65
SELECT seconds > 60 AS "long", AVG(seconds) FROM calls GROUP BY 1;

-- case: joined with the unit table
-- outcome: refused D302 at 1:82
SELECT p.ward, COUNT(*) FROM patients p JOIN calls c USING (patient_id) GROUP BY p.ward;

-- case: one side of a union
-- outcome: refused D302 at 1:8
SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION ALL SELECT patient_id FROM calls);

-- case: a clip that may not be chosen
-- outcome: refused D302 at 1:16
-- instead: SELECT OPTIONS(max_rows_contributed = 20) COUNT(*) AS n FROM visits
SELECT OPTIONS(max_rows_contributed = auto) COUNT(*) AS n FROM visits;
