-- Private rows that hit no clip: in every range and list, few rows per unit, no NULL unit, nothing dangling.
-- Every combination of ward (NULL too), sex, insured (NULL too) and smoker has a patient, so that no public group is empty.

INSERT INTO patients
SELECT
    1 + i,
    DATE '2024-06-30' - (5 + i * 7 % 90) * 365,
    5 + i * 7 % 90,
    ['F', 'M'][1 + i // 5 % 2],
    ['A', 'B', 'C', 'D', NULL][1 + i % 5],
    CASE WHEN i % 13 <> 4 THEN 20000 + i * 37 % 60 * 1500.5 END,
    [true, false, NULL][1 + i // 10 % 3],
    i >= 30,
    ['Oslo', 'Bergen', 'Trondheim', 'Tromsø', NULL][1 + i * 3 % 7 % 5],
    CASE WHEN i % 17 <> 3 THEN 150 + i % 40 + 0.25 END,
    CASE WHEN i % 19 <> 5 THEN i % 4 END,
    i / 8.0 - 3,
    (['0', 'A', 'B', 'AB', NULL][1 + i * 2 % 9 % 5])::blood_type,
    TIMESTAMP '2021-01-01 08:00:00' + INTERVAL (i * 19) DAY + INTERVAL (i % 24) HOUR,
    CASE i % 3 WHEN 0 THEN ['pollen'] WHEN 1 THEN [] END,
    'note ' || i
FROM (SELECT i::INTEGER AS i FROM range(60) AS r(i)) AS people;

-- One to four visits, except for every tenth patient; and two units who are not among the patients.
INSERT INTO visits
SELECT
    1000 + i * 10 + j,
    CASE WHEN i < 60 THEN 1 + i ELSE 900000 + i END,
    1 + (i + j) % 6,
    DATE '2022-01-01' + (i * 29 + j * 97) % 1000,
    TIMESTAMP '2022-01-01 07:30:00' + INTERVAL ((i * 29 + j * 97) % 1000) DAY + INTERVAL ((i + 5 * j) % 12) HOUR,
    CASE WHEN (i + j) % 11 <> 10 THEN 10.25 * ((i + 3 * j) % 40 + 1) END,
    5 + (i * 3 + j * 17) % 110,
    ['checkup', 'surgery', 'emergency', 'therapy'][1 + (i + j // 2) % 4],
    [true, false, NULL][1 + (i + 2 * j) % 3],
    1000 + i
FROM (SELECT i::INTEGER AS i FROM range(62) AS r(i)) AS people,
    (SELECT j::INTEGER AS j FROM range(4) AS r(j)) AS times
WHERE i % 10 <> 9 AND j <= i % 4;

INSERT INTO treatments
SELECT
    visit_id * 2 + k,
    visit_id,
    ['aspirin', 'ibuprofen', 'morphine', 'placebo'][1 + (visit_id + k) % 4],
    (10 + (visit_id * 7 + k) % 300)::DECIMAL(8, 2) / 4,
    visited_on + k::INTEGER
FROM visits, range(2) AS r(k)
WHERE visit_id % 3 <> 0 AND k <= visit_id % 2;

INSERT INTO reactions
SELECT treatment_id, 1 + treatment_id % 5, given_on + 2 FROM treatments WHERE treatment_id % 4 <> 1;

INSERT INTO calls SELECT patient_id, registered + INTERVAL 3 DAY, 30 + age FROM patients WHERE age < 60;

-- All months of two years, on any day of the week.
INSERT INTO journeys
SELECT
    1 + i % 60,
    TIMESTAMPTZ '2023-01-01 06:30:00+00' + INTERVAL (i * 127) HOUR,
    TIMESTAMPTZ '2023-01-01 06:30:00+00' + INTERVAL (i * 127 + i * 31 % 400) HOUR,
    TIMESTAMP '2023-01-01 06:30:00' + INTERVAL (i * 127) HOUR,
    DATE '2023-01-01' + (i * 5)::INTEGER
FROM range(137) AS r(i);

-- At most four items a list, some of them twice, some NULL.
INSERT INTO answers
SELECT
    1 + i,
    [NULL, 'red', 'red;blue', 'blue;green;blue', ''][1 + i % 5],
    CASE i % 4 WHEN 0 THEN [1.5, 2.25, 1.5] WHEN 1 THEN [NULL, i / 8.0] WHEN 2 THEN [] END,
    CASE i % 3 WHEN 0 THEN MAP {'a': i, 'b': 2} WHEN 1 THEN MAP {'b': i} END,
    CASE WHEN i % 6 <> 5 THEN {'town': ['Oslo', 'Bergen', NULL][1 + i % 3], 'rooms': 1 + i % 5, 'floor area': 20.5 + i} END,
    CASE WHEN i % 7 <> 6 THEN '{"a": {"n": ' || i % 4 || '}, "kind": "' || ['new', 'old'][1 + i % 2] || '", "tags": ["x", "' || ['y', 'x'][1 + i % 2] || '"]}' END,
    ['{"a": 1}', '{"a": "1.5"}', '[1, 2, 3]', '{"b": null}', NULL][1 + i % 5]
FROM (SELECT i::INTEGER AS i FROM range(60) AS r(i)) AS people
WHERE i % 10 <> 9;

INSERT INTO sales.orders
SELECT
    i * 10 + j,
    1 + i,
    TIMESTAMP '2023-01-01 09:15:00' + INTERVAL ((i * 13 + j * 41) % 700) DAY,
    (5 + (i * 31 + j * 7) % 400)::DECIMAL(12, 2) / 2,
    ['open', 'paid', 'returned'][1 + (i + j) % 3],
    ['card', 'cash', 'invoice', NULL][1 + (i * 5 + j) % 4]
FROM (SELECT i::INTEGER AS i FROM range(60) AS r(i)) AS people,
    (SELECT j::INTEGER AS j FROM range(3) AS r(j)) AS times
WHERE i % 5 <> 2 AND j <= i % 3;

INSERT INTO sales.refunds
SELECT order_id, patient_id, amount / 2, placed_at::DATE + 14 FROM sales.orders WHERE status = 'returned';

INSERT INTO clubs.members
SELECT ['a', 'b', 'a1'][1 + i % 3], i // 3, DATE '2020-01-01' + (i * 11)::INTEGER, ['first', 'second'][1 + i % 2], (i * 7) % 100
FROM range(45) AS r(i);

INSERT INTO clubs.matches
SELECT
    'court ' || i % 4, i // 4, ['a', 'b', 'a1'][1 + i % 3], (i // 3) % 15,
    DATE '2023-01-01' + (i * 3)::INTEGER, (i * 13) % 41, 1 + i % 5
FROM range(120) AS r(i);

INSERT INTO clubs.shots
SELECT 'court ' || i % 4, (i // 4) % 30, (i * 37) % 250 + 0.5, ['serve', 'volley', 'lob'][1 + i % 3]
FROM range(240) AS r(i);
