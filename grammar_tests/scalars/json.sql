-- JSON and structs: parts at constant paths; what is no JSON is NULL.

-- case: a text of JSON as a key
-- outcome: accepted
SELECT doc ->> 'kind' AS kind, COUNT(*) AS n FROM answers GROUP BY kind;

-- case: a number of JSON, cast and clamped
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(CAST(doc ->> '$.a.n' AS INTEGER), 0), 10)) AS total, COUNT(CAST(doc ->> '$.a.n' AS INTEGER)) AS n FROM answers;

-- case: one step after the other
-- outcome: accepted
SELECT COUNT(*) AS n FROM answers WHERE (doc -> 'a') ->> 'n' = '1' OR json_extract_string(json_extract(doc, '$.tags'), '$[1]') = 'y';

-- case: by the names of the functions
-- outcome: accepted
SELECT json_extract_string(doc, '$.kind') AS kind, COUNT(json_extract_string(doc, '$.a')) AS n FROM answers GROUP BY kind;

-- case: how long an array is
-- outcome: accepted
SELECT SUM(LEAST(json_array_length(doc, '$.tags'), 5)) AS tags, COUNT(json_array_length(doc)) AS n FROM answers;

-- case: what JSON is, and what is there
-- outcome: accepted
SELECT json_type(doc, '$.a') AS type, COUNT(*) AS n FROM answers WHERE json_exists(doc, '$.a') AND json_valid(doc) GROUP BY type;

-- case: the items of an array
-- outcome: accepted
SELECT tag, COUNT(*) AS n, COUNT(DISTINCT patient_id) AS people FROM answers, unnest(json_extract_string(doc, '$.tags[*]')) AS u(tag) GROUP BY tag;

-- case: the items of an array as JSON
-- outcome: accepted
SELECT tag ->> '$' AS tag, COUNT(*) AS n FROM answers, unnest(json_extract(doc, '$.tags[*]')) AS u(tag) GROUP BY ALL;

-- case: the names of an object
-- outcome: accepted
SELECT name, COUNT(*) AS n FROM answers, unnest(json_keys(doc)) AS u(name) GROUP BY name;

-- case: a text that may be JSON
-- outcome: accepted
SELECT remark ->> '$.a' AS a, COUNT(*) AS n FROM answers WHERE json_valid(remark) GROUP BY a;

-- case: a text that is JSON for nobody
-- outcome: accepted
-- plain: SELECT COUNT(c ->> '$.a') AS n, COUNT(json_type(c)) AS types, SUM(LEAST(json_array_length(c), 3)) AS items, COUNT(json_keys(c)) AS names FROM (SELECT CASE WHEN json_valid(city) THEN city END AS c FROM patients)
SELECT COUNT(city ->> '$.a') AS n, COUNT(json_type(city)) AS types, SUM(LEAST(json_array_length(city), 3)) AS items, COUNT(json_keys(city)) AS names FROM patients;

-- case: a field of a struct
-- outcome: accepted
SELECT home.town AS town, COUNT(*) AS n, SUM(LEAST(GREATEST(home.rooms, 0), 9)) AS rooms FROM answers GROUP BY town;

-- case: fields of a struct in brackets
-- outcome: accepted
SELECT AVG(LEAST(GREATEST(home['floor area'], 0), 200)) AS area FROM answers WHERE struct_extract(home, 'rooms') > 1;

-- case: a value of a map
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(counts['b'], 0), 50)) AS b, COUNT(map_extract_value(counts, 'a')) AS a FROM answers;

-- case: the entries of a map
-- outcome: accepted
SELECT e.key AS key, SUM(LEAST(GREATEST(e['value'], 0), 50)) AS total FROM answers, unnest(map_entries(counts)) AS u(e) GROUP BY key;

-- case: a struct of the last row of a unit
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id, home, doc FROM answers QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY choices) = 1) WHERE home.rooms > 2 OR doc ->> '$.a.n' = '1';
