-- Lists and maps that the query spells out.

-- case: in a list of constants
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE list_contains(['Oslo', 'Bergen'], city) OR array_has(['A'], ward) OR list_has(['B'], ward);

-- case: in a list, as an operator
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE city IN ['Oslo', NULL] OR 'nuts' IN allergies OR (age < 40 AND 'pollen' NOT IN allergies);

-- case: in a list of columns
-- outcome: accepted
SELECT COUNT(*) AS n FROM visits WHERE list_contains([minutes, 10, 20], 20) OR array_contains([cost, 10.25], minutes);

-- case: the place in a list
-- outcome: accepted
SELECT SUM(list_position(['therapy', 'surgery', 'checkup'], kind)) AS places, SUM(array_position([1, 2, 3], place_id)) AS p, SUM(list_indexof([5, 6], place_id)) AS i FROM visits;

-- case: the item at a place
-- outcome: accepted
SELECT [10, 20, 30][place_id] AS points, COUNT(*) AS n FROM visits GROUP BY points;

-- case: the item at a computed place
-- outcome: accepted
SELECT SUM([5, 10, 15, 20][quarter(visited_on)]) AS q, SUM([1.5, 2.5][month(visited_on) - 4]) AS m, SUM(list_extract([7, 8, 9], place_id)) AS e FROM visits;

-- case: the item at a place, texts
-- outcome: accepted
SELECT ['low', 'middle', 'high'][1 + age // 40] AS band, AVG(income) AS income FROM patients GROUP BY band;

-- case: how long a list is
-- outcome: accepted
SELECT SUM(len([age, 2, 3])) AS three, SUM(array_length(['a', 'b'])) AS two FROM patients;

-- case: values looked up in a map
-- outcome: accepted
SELECT SUM(MAP {'A': 1, 'B': 2.5}[ward]) AS weight, SUM(map_extract_value(MAP {'F': 1, 'M': 0}, sex)) AS women FROM patients;

-- case: texts looked up in a map
-- outcome: accepted
SELECT map_extract_value(MAP(['checkup', 'surgery'], ['light', 'hard']), kind) AS sort, COUNT(*) AS n FROM visits GROUP BY sort;

-- case: keys of a map
-- outcome: accepted
SELECT COUNT(*) AS n FROM patients WHERE map_contains(MAP {'A': 1, 'B': 2}, ward);

-- case: sums and means of a few columns
-- outcome: accepted
SELECT SUM(list_sum([age, children, 1])) AS s, SUM(list_avg([age, children])) AS a, SUM(list_count([income, height])) AS n FROM patients;

-- case: the greatest and least of a few columns
-- outcome: accepted
SELECT SUM(list_max([minutes, 60])) AS most, SUM(list_min([minutes, 60])) AS least, SUM(list_any_value([cost, 0])) AS some, SUM(list_product([minutes, 2])) AS twice FROM visits;

-- case: a distance from a point
-- outcome: accepted
SELECT AVG(list_distance([COALESCE(cost, 0), minutes], [100, 60])) AS d, SUM(list_inner_product([COALESCE(cost, 0), minutes], [1, 2])) AS p FROM visits;

-- case: an angle between two directions
-- outcome: accepted
SELECT AVG(list_cosine_similarity([1 + COALESCE(cost, 0), minutes], [1, 1])) AS s, AVG(list_cosine_distance([1 + COALESCE(cost, 0), minutes], [1, 1])) AS d, AVG(list_negative_inner_product([minutes], [2])) AS p FROM visits;

-- case: an inner product over rows that a join repeats
-- outcome: accepted
SELECT SUM(LEAST(GREATEST(list_negative_inner_product([ceil(100::DECIMAL(8, 2)), -t.dose], [1, 2]), -1000), 0.5)) AS s
FROM treatments t JOIN reactions r USING (treatment_id);
