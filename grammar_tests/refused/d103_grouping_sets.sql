-- D103: more grouping sets than a row should be copied into.

-- case: all combinations of seven keys
-- outcome: refused D103 at 1:46
-- instead: SELECT COUNT(*) FROM patients GROUP BY GROUPING SETS ((ward, sex), (ward), ())
SELECT COUNT(*) FROM patients GROUP BY CUBE (ward, sex, smoker, insured, city, blood, age);

-- case: two lists whose product is too long
-- outcome: refused D103 at 1:81
SELECT COUNT(*) FROM patients GROUP BY CUBE (ward, sex, smoker, insured), CUBE (city, blood, age);
