-- Texts taken apart, glued and shown in another way.

-- case: letters as people see them
-- outcome: accepted
SELECT left_grapheme(city, 2) AS head, right_grapheme(city, 1) AS tail, substring_grapheme(city, 2, 2) AS middle, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: one form of every letter
-- outcome: accepted
SELECT nfc_normalize(city) AS city, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: laid over
-- outcome: accepted
SELECT overlay(city PLACING 'XY' FROM 2 FOR 1) AS c, overlay(kind, '-', 1) AS k, COUNT(*) AS n FROM visits v JOIN patients p ON p.patient_id = v.patient_id GROUP BY ALL;

-- case: repeated a few times
-- outcome: accepted
SELECT repeat(sex, 3) AS triple, COUNT(*) AS n FROM patients GROUP BY triple;

-- case: padded and cut
-- outcome: accepted
SELECT lpad(ward, 3, '.') AS l, rpad(ward, 3, '.') AS r, split_part(city, 'r', 1) AS s, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: a format with braces
-- outcome: accepted
SELECT format('{} of {}', sex, ward) AS cell, COUNT(*) AS n FROM patients GROUP BY cell;

-- case: a format with percent signs
-- outcome: accepted
SELECT printf('%s: %d%%', sex, age // 10) AS cell, COUNT(*) AS n FROM patients GROUP BY cell;

-- case: a list of texts as one
-- outcome: accepted
SELECT array_to_string([ward, sex], '/') AS cell, COUNT(*) AS n FROM patients GROUP BY cell;

-- case: escaped for another language
-- outcome: accepted
SELECT url_encode(city) AS url, regexp_escape(city) AS pattern, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: names of files
-- outcome: accepted
SELECT parse_filename(city || '/' || sex) AS f, parse_dirname(city || '/' || sex) AS d, parse_dirpath(city || '/' || sex) AS p, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: digests as numbers
-- outcome: accepted
SELECT md5_number_lower(city) % 4 AS bucket, md5_number(city) % 2 AS side, md5_number_upper(sex) % 2 AS s, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: patterns of files
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city GLOB 'T*' OR city GLOB '[A-C]?rg*';

-- case: LIKE by its names
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE like_escape(city, 'O$slo', '$') OR city ~~ 'B%' OR city !~~* '%O%' OR not_ilike_escape(city, 'x', '$');

-- case: LIKE's signs
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city ^@ 'Os' OR prefix(city, 'Be') OR suffix(city, 'ø');

-- case: the places of an ENUM
-- outcome: accepted
SELECT SUM(enum_code(blood)) AS codes, COUNT(*) FILTER (WHERE blood::VARCHAR = enum_first(blood)) AS first, COUNT(*) FILTER (WHERE blood = enum_last(blood)) AS last FROM patients;
