-- Private rows that break engines: about twenty units in each table, so that removing each one stays cheap.

INSERT INTO patients VALUES
    -- plain people, and ties between them
    (1, '1980-02-29', 44, 'F', 'A', 52000, true, false, 'Oslo', 168.50, 2, 0.5, 'A', '2021-03-01 08:00:00', ['pollen'], 'n1'),
    (2, '1980-02-29', 44, 'F', 'A', 52000, true, false, 'Oslo', 168.50, 2, 0.5, 'A', '2021-03-01 08:00:00', ['pollen'], 'n2'),
    (3, '1991-12-31', 33, 'M', 'A', 31000.25, false, true, 'Oslo', 181.00, 0, -1.5, '0', '2022-01-31 23:59:59.999999', [], NULL),
    (4, '2024-01-01', 0, 'F', 'B', 0, true, false, 'Bergen', 52.00, 0, 0, 'B', '2024-02-29 00:00:00', NULL, ''),
    (5, '1955-07-04', 69, 'M', 'B', 499999.99, true, true, 'Bergen', 175.25, 4, 1e-9, 'AB', '2020-01-01 00:00:00', ['nuts', NULL], 'n5'),
    (6, '1904-01-01', 120, 'F', 'C', 500000, false, false, 'Bergen', 150.00, 9, 100, NULL, '2023-06-15 12:00:00', ['nuts'], 'n6'),
    -- NULL wherever it may stand
    (7, NULL, NULL, 'M', NULL, NULL, NULL, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (8, NULL, NULL, 'F', NULL, NULL, NULL, true, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    -- what is not a number, or hardly one
    (9, '1970-01-01', 54, 'F', 'A', 'NaN', true, false, 'Oslo', 160.00, 1, 'NaN', '0', '1970-01-01 00:00:00', [], NULL),
    (10, 'infinity', 45, 'M', 'A', 'inf', false, false, 'Oslo', 999.99, 127, 'inf', '0', 'infinity', [], NULL),
    (11, '-infinity', 46, 'M', 'B', '-inf', false, true, 'Oslo', -999.99, -128, '-inf', 'A', '-infinity', [], NULL),
    (12, '9999-12-31', 47, 'F', 'C', 1e300, NULL, true, 'Oslo', 0.00, 3, 1e308, 'B', '9999-12-31 23:59:59', ['nuts', 'pollen', 'nuts', NULL] || list_resize(['dust'], 20, 'dust'), NULL),
    (13, '1899-12-31', 48, 'M', 'C', -1e300, NULL, false, 'Bergen', 0.01, 3, -1e308, 'B', '1899-12-31 00:00:00', [], NULL),
    (14, '1970-01-01', 49, 'F', 'C', '-0.0', true, false, 'Bergen', 229.99, 0, '-0.0', 'AB', '2023-10-29 02:30:00', [], NULL),
    (15, '1969-12-31', 65, 'F', 'D', 5e-324, true, true, '([a-z{"' || chr(0) || '\', 170.10, 1, 5e-324, 'AB', '2023-03-26 02:30:00', [], NULL),
    -- outside what the policy declares
    (16, '2031-01-01', -1, 'X', 'Q', -5, true, false, '%FF', 170.10, 1, 7, '0', '2031-01-01 00:00:00', [], NULL),
    (17, '1800-01-01', 121, 'f', 'a', 500000.01, false, true, '٣٤ {} ²', 170.10, 1, 7, '0', '1800-01-01 00:00:00', [], NULL),
    (18, '1990-05-05', 2147483647, '', '', 9e18, false, false, '', 170.10, 1, 7, '0', '2022-05-05 05:05:05', [], NULL),
    (19, '1990-05-05', -2147483648, 'M', 'A ', 1e16, true, true, 'Oslo ', 170.10, 1, 7, '0', '2022-05-05 05:05:05', [], NULL),
    -- alone in a city; odd texts; odd numbers for a unit
    (0, '1984-04-04', 40, 'M', 'D', 12345.678, false, true, 'Longyearbyen', 190.55, 5, 3.25, 'A', '2022-09-09 09:09:09', ['dust'], 'n0'),
    (-7, '1985-05-05', 39, 'F', 'D', 67890, true, false, 'Tromsø', 158.00, 2, 2, 'A', '2022-09-09 09:09:09', [], '%_\'),
    (2147483647, '1986-06-06', 38, 'M', 'D', 1, NULL, false, 'O''Brien % _ \ "', 165.00, 2, 2, NULL, '2022-12-31 23:59:59', [], NULL),
    (-2147483648, '1987-07-07', 37, 'F', NULL, 99999.995, true, true, '42', 172.00, 2, 2, '0', '2022-12-31 23:59:59', [], NULL);

INSERT INTO visits VALUES
    (101, 1, 1, '2023-01-05', '2023-01-05 09:00:00', 120.50, 30, 'checkup', false, 100),
    (102, 1, 2, '2023-02-10', '2023-02-10 10:30:00', 80, 15, 'therapy', NULL, 200),
    (103, 2, 1, '2023-01-05', '2023-01-05 09:00:00', 120.50, 30, 'checkup', false, 100),
    -- ties inside one unit: the same visit three times, under three numbers
    (104, 4, 3, '2024-02-29', '2024-02-29 12:00:00', 40, 20, 'therapy', true, 0),
    (105, 4, 3, '2024-02-29', '2024-02-29 12:00:00', 40, 20, 'therapy', true, 0),
    (106, 4, 3, '2024-02-29', '2024-02-29 12:00:00', 40, 20, 'therapy', true, 0),
    (107, 5, 4, '2025-12-31', '2025-12-31 23:59:59.999999', 5000, 480, 'surgery', true, 9223372036854775807),
    (108, 5, 4, '2020-01-01', '2020-01-01 00:00:00', 0, 0, 'surgery', false, -9223372036854775808),
    -- values that are none, too large, too small, or outside the policy
    (109, 6, 5, '2023-03-03', '2023-03-03 03:03:03', 'NaN', 2147483647, 'emergency', true, 1),
    (110, 6, 5, '2023-03-03', '2023-03-03 03:03:03', 'inf', -2147483648, 'emergency', true, 1),
    (111, 7, 6, '2023-03-04', '2023-03-04 03:03:03', '-inf', -1, 'emergency', NULL, NULL),
    (112, 7, NULL, NULL, NULL, NULL, NULL, 'checkup', NULL, NULL),
    (113, 9, 99, 'infinity', 'infinity', 1e300, 481, 'checkup', false, 5),
    (114, 9, 1, '-infinity', '-infinity', -1e300, 10, 'checkup', false, 5),
    (115, 10, 1, '1999-12-31', '1999-12-31 00:00:00', -0.01, 10, '%FF', false, 5),
    (116, 11, 2, '2031-01-01', '2031-01-01 00:00:00', 5000.01, 10, '', false, 5),
    (117, 12, 2, '2023-05-05', '2023-05-05 05:00:00', '-0.0', 10, 'CHECKUP', false, 5),
    (118, 15, 3, '2023-10-29', '2023-10-29 02:30:00', 5e-324, 7, 'therapy', true, 3),
    (119, 0, 6, '2023-11-11', '2023-11-11 11:11:11', 333.33, 33, 'surgery', true, 11),
    (120, -7, 6, '2023-11-12', '2023-11-12 11:11:11', 66.60, 66, 'surgery', false, 11),
    (121, 2147483647, 4, '2022-08-08', '2022-08-08 08:08:08', 12.25, 12, 'therapy', NULL, 8),
    (122, -2147483648, 4, '2022-08-08', '2022-08-08 08:08:08', 12.25, 12, 'therapy', NULL, 8),
    -- visits of nobody
    (123, NULL, 1, '2023-01-06', '2023-01-06 09:00:00', 1000, 60, 'surgery', true, 9),
    (124, NULL, 2, '2023-01-07', '2023-01-07 09:00:00', 'NaN', 60, 'checkup', NULL, 9),
    (125, NULL, NULL, NULL, NULL, NULL, NULL, 'therapy', NULL, NULL),
    -- units that are not among the patients; the first one goes everywhere
    (126, 900001, 1, '2023-01-08', '2023-01-08 09:00:00', 50, 5, 'checkup', false, 1),
    (127, 900001, 2, '2023-01-08', '2023-01-08 10:00:00', 50, 5, 'surgery', false, 1),
    (128, 900001, 3, '2023-01-08', '2023-01-08 11:00:00', 50, 5, 'therapy', false, 1),
    (129, 900001, 4, '2023-01-08', '2023-01-08 12:00:00', 50, 5, 'emergency', true, 1),
    (130, 900001, 5, '2023-01-08', '2023-01-08 13:00:00', 50, 5, 'checkup', true, 1),
    (131, 900001, 6, '2023-01-08', '2023-01-08 14:00:00', 50, 5, 'surgery', NULL, 1),
    (132, 900002, 5, '2024-12-24', '2024-12-24 18:00:00', 4999.99, 479, 'emergency', true, 77),
    -- visits without a number
    (NULL, 1, 1, '2023-04-01', '2023-04-01 09:00:00', 60, 25, 'checkup', true, 4),
    (NULL, 14, 3, '2023-04-01', '2023-04-01 09:00:00', 60, 25, 'checkup', true, 4);

-- One patient with 3,000 visits, many of them alike.
INSERT INTO visits
SELECT 10000 + i, 3, 1 + i % 7, DATE '2021-01-01' + (i % 1500)::INTEGER,
    TIMESTAMP '2021-01-01 06:00:00' + INTERVAL (i % 50) HOUR, (i * 37 % 6000)::DOUBLE, (i % 600)::INTEGER,
    ['checkup', 'surgery', 'emergency', 'therapy', 'massage'][1 + i % 5], i % 3 = 0, i
FROM range(3000) AS r(i);

INSERT INTO treatments VALUES
    (1, 101, 'aspirin', 100.00, '2023-01-05'), (2, 101, 'aspirin', 100.00, '2023-01-05'),
    (3, 102, 'ibuprofen', 400.50, '2023-02-11'), (4, 103, 'aspirin', 100.00, '2023-01-05'),
    (5, 104, 'placebo', 0.00, '2024-03-01'), (6, 105, 'placebo', 0.01, '2024-03-01'),
    (7, 107, 'morphine', 999999.99, '2025-12-31'), (8, 108, 'morphine', -999999.99, '2020-01-01'),
    (9, 109, NULL, NULL, NULL), (10, 111, 'aspirin', 1000.00, '2023-03-04'),
    (11, 119, 'unique to one', 5.00, '2023-11-11'), (12, 126, 'aspirin', 50.00, '2023-01-08'),
    (13, 132, 'ibuprofen', 1000.01, '2024-12-24'),
    -- of a visit of nobody, of no visit, of a visit that is not there
    (14, 123, 'aspirin', 100.00, '2023-01-06'), (15, NULL, 'aspirin', 100.00, '2023-01-06'),
    (16, 777777, 'aspirin', 100.00, '2023-01-06'), (NULL, 120, 'ibuprofen', 200.00, '2023-11-12');
INSERT INTO treatments
SELECT 5000 + i, 10000 + i, ['aspirin', 'ibuprofen', 'morphine'][1 + i % 3], (i % 40)::DECIMAL(8, 2),
    DATE '2021-01-01' + (i % 300)::INTEGER
FROM range(400) AS r(i);

INSERT INTO reactions VALUES
    (1, 3, '2023-01-06'), (1, 3, '2023-01-06'), (3, 5, '2023-02-12'), (4, 1, NULL), (5, NULL, '2024-03-02'),
    (7, 2147483647, '2026-01-01'), (8, -2147483648, '2020-01-02'), (11, 2, '2023-11-12'), (12, 4, '2023-01-09'),
    (14, 3, '2023-01-07'), (16, 3, '2023-01-07'), (NULL, 5, '2023-01-07'), (888888, 5, '2023-01-07');
INSERT INTO reactions SELECT 5000 + i % 400, 1 + i % 5, DATE '2021-06-01' FROM range(600) AS r(i);

INSERT INTO calls VALUES
    (1, '2023-01-01 10:00:00', 60), (1, '2023-01-02 10:00:00', 90), (2, '2023-01-01 10:00:00', 60),
    (NULL, '2023-01-01 10:00:00', 60), (900001, '2023-01-03 10:00:00', 3600);

INSERT INTO journeys VALUES
    (1, 'infinity', '-infinity', 'infinity', '-infinity'), (1, '-infinity', 'infinity', '-infinity', 'infinity'),
    (2, '294247-01-10 04:00:54.775806+00', '290309-12-22 (BC) 00:00:00+00', '294247-01-10 04:00:54', '5881580-07-10'),
    (3, '0044-03-15 (BC) 12:00:00+00', '10000-01-01 00:00:00+00', '0044-03-15 (BC) 12:00:00', '0044-03-15 (BC)'),
    (12, '2024-06-01 00:00:00+00', '2023-06-01 00:00:00+00', '2024-06-01 00:00:00', '2023-06-01'),  -- backwards
    (4, '0001-01-01 00:00:00+00', '9999-12-31 23:59:59.999999+00', '0001-01-01 00:00:00', '9999-12-31'),
    (5, '2024-03-31 01:00:00+00', '2024-10-27 01:00:00+00', '2024-03-31 02:30:00', '2024-03-31'),
    (6, '2022-12-31 23:59:59.999999+00', '2026-01-01 00:00:00+00', '2025-01-01 00:00:00', '2022-12-31'),
    (7, '1892-09-19 22:45:21+00', '2023-07-01 00:00:00+05:30', NULL, NULL), (8, NULL, NULL, NULL, NULL),
    (NULL, '2024-01-01 00:00:00+00', '2024-01-02 00:00:00+00', '2024-01-01 00:00:00', '2024-01-01'),
    (900001, '2023-05-05 05:05:05+00', '2023-05-09 05:05:05+00', '2023-05-05 05:05:05', '2023-05-05');
INSERT INTO journeys
SELECT 9, TIMESTAMPTZ '2023-01-01 00:00:00+00' + INTERVAL (i * 100) HOUR,
    TIMESTAMPTZ '2023-01-02 00:00:00+00' + INTERVAL (i * 120) HOUR, NULL, NULL
FROM range(150) AS r(i);

INSERT INTO answers VALUES
    (1, 'red;blue;red', [1.5, 2, 1.5], MAP {'a': 1, 'b': 2}, {'town': 'Oslo', 'rooms': 3, 'floor area': 70.5}, '{"a": {"n": 1}, "tags": ["x", "y", "x"]}', '{"a": 1}'),
    (1, 'red;blue;red', [1.5, 2, -1.5], MAP {'a': 1, 'b': 2}, {'town': 'Oslo', 'rooms': 3, 'floor area': 70.5}, '{"a": {"n": 1}, "tags": ["x", "y", "z"]}', '{"a": 1}'),
    (2, '', [], MAP {}, {'town': NULL, 'rooms': NULL, 'floor area': NULL}, '{}', ''),
    (3, ';;', [NULL, NULL], MAP {'': NULL}, NULL, '[]', '{"a": [1, 2'), (4, NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 'red', ['nan', 'inf', '-inf', -0.0, 1e300], MAP {'a': 2147483647}, {'town': '', 'rooms': -2147483648, 'floor area': 'nan'}, 'null', 'null'),
    (6, 'only here', [NULL], MAP {'only here': 1}, {'town': 'only here', 'rooms': 99, 'floor area': 'inf'}, '{"a": "only here", "tags": []}', '[1, {"a": 2}]'),
    (7, chr(0) || ';' || chr(0), [5], NULL, NULL, '"\u0000"', '{"a": "\ud800"}'), (9, 'red;', [5, 5], NULL, NULL, '{"a": 1e400}', '{"a": 1e400'),
    (9, 'red; red;RED', [-5, 500], NULL, NULL, '{"a": [[[[{"b": null}]]]], "tags": "x"}', 'nan'), (10, 'blue', NULL, NULL, NULL, '3', '{"a": 1} {"a": 2}'),
    (NULL, 'red', [1], MAP {'a': 1}, {'town': 'Oslo', 'rooms': 1, 'floor area': 1.0}, '{"a": 1}', '{"a": 1}'),
    (900001, 'blue;red', [3], MAP {'b': 1}, {'town': 'Bergen', 'rooms': 1, 'floor area': 1.0}, '{"a": 1}', '{"a": 1}');
-- Lists longer than any slice, and a patient with many of them.
INSERT INTO answers
SELECT 12, repeat('red;', 40), list_transform(range(60), lambda x: x % 7 - 1.5), map_from_entries(list_transform(range(30), lambda x: {'k': 'k' || x, 'v': x::INTEGER})),
    {'town': 'Oslo', 'rooms': i::INTEGER, 'floor area': i}, '{"a": {"n": ' || i || '}, "tags": [' || repeat('"x", ', 30) || '"y"]}', repeat('[', 2000 * i::INTEGER)
FROM range(40) AS r(i);

INSERT INTO sales.orders VALUES
    (1, 1, '2023-01-10 10:00:00', 99.90, 'paid', 'card'), (2, 1, '2023-02-10 10:00:00', 0.10, 'open', 'card'),
    (3, 2, '2023-01-10 10:00:00', 99.90, 'paid', 'card'), (4, 3, '2023-03-31 23:59:59', 10000.00, 'paid', 'invoice'),
    (5, 3, '2023-03-31 23:59:59', 10000.00, 'paid', 'invoice'), (6, 4, '2024-02-29 10:00:00', 9999999999.99, 'paid', 'card'),
    (7, 5, NULL, -9999999999.99, 'returned', NULL), (8, 6, '2023-05-05 05:05:05', NULL, 'lost', 'card'),
    (9, 7, '2023-06-06 06:06:06', 10000.01, '', 'cash'), (10, 11, 'infinity', -0.01, 'open', 'cash'),
    (11, 0, '2023-07-07 07:07:07', 70.00, 'open', 'barter'), (12, NULL, '2023-08-08 08:08:08', 80.00, 'open', 'card'),
    (13, 900001, '2023-09-09 09:09:09', 90.00, 'returned', 'card'),
    (14, 900003, '2023-10-10 10:10:10', 100.00, 'paid', 'cash'),
    (15, 9223372036854775807, '2023-11-11 11:11:11', 110.00, 'paid', 'cash');
INSERT INTO sales.orders
SELECT 100 + i, 12, TIMESTAMP '2022-01-01' + INTERVAL (i) DAY, (i % 100)::DECIMAL(12, 2),
    ['open', 'paid', 'returned'][1 + i % 3], 'card'
FROM range(300) AS r(i);

-- Two tables, each with a unit of its own, that disagree about an order: patient 5 has refunds for all of them.
INSERT INTO sales.refunds SELECT order_id, 5, 1.00, DATE '2023-12-01' FROM sales.orders;
INSERT INTO sales.refunds VALUES
    (1, 1, 9.90, '2023-02-01'), (3, 2, 99.90, '2023-02-01'), (6, 4, 9999999999.99, '2024-03-01'),
    (NULL, 4, 1.00, '2024-03-01'), (7, NULL, 1.00, '2024-03-01'), (13, 900001, -1.00, NULL), (404, 0, 7.00, '2023-08-01');

-- Members of clubs: numbers that several clubs have, pairs that are one text when glued together, NULL in either.
INSERT INTO clubs.members VALUES
    ('a', 1, '2020-01-01', 'first', 100), ('b', 1, '2020-01-01', 'first', 100), ('a', 11, '2021-05-05', 'second', 50),
    ('a1', 1, NULL, 'second', 'NaN'), ('', 111, 'infinity', 'third', 1e300), ('A', 1, '2024-02-29', 'first', '-0.0'),
    ('a ', 1, '2019-12-31', NULL, NULL), ('b', -2147483648, '2020-01-01', 'first', -5), ('b', 0, '2020-01-01', '?', 10),
    (NULL, 1, '2020-01-01', 'first', 1e9), (NULL, 1, '2020-01-01', 'first', 1e9), ('a', NULL, '2020-01-01', 'third', 1e9),
    ('a', NULL, '2020-01-01', 'second', 7), (NULL, NULL, NULL, NULL, NULL);

INSERT INTO clubs.matches
SELECT
    'court ' || i % 3, i, ['a', 'a', 'b', NULL, 'a1', '', 'zzz', 'A'][1 + i % 8],
    [1, 11, 1, 1, 1, 111, 9223372036854775807, NULL][1 + i % 8],
    DATE '2023-01-01' + (i % 40)::INTEGER, [0, 15, 30, 40, -1, 1000, NULL][1 + i % 7], [1, 2, 3, NULL, 99][1 + i % 5]
FROM range(64) AS r(i);
INSERT INTO clubs.matches  -- one member everywhere
SELECT 'court ' || i % 7, 1000 + i, 'a', 1, DATE '2023-01-01' + (i % 300)::INTEGER, i % 41, 1 + i % 6
FROM range(150) AS r(i);
INSERT INTO clubs.matches VALUES
    (NULL, 1, 'b', 1, '2023-01-01', 40, 1), ('court 0', NULL, 'b', 1, '2023-01-01', 40, 1), (NULL, 1, 'a', 11, '2023-01-01', 40, 1);

INSERT INTO clubs.shots
SELECT
    ['court ' || i % 3, 'court ' || i % 7, NULL, 'no court'][1 + (i // 210) % 4],
    CASE WHEN i % 19 <> 0 THEN [i % 64, 1000 + i % 150, i, i][1 + (i // 210) % 4]::SMALLINT END,
    ['0', '120.5', '250', 'NaN', 'inf', '-3', NULL][1 + i % 7]::DOUBLE, ['serve', 'volley', NULL, 'lob'][1 + i % 4]
FROM range(840) AS r(i);
