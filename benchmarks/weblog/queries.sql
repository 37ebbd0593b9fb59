-- Questions about a month of page views, of the 43 shapes that ClickBench made known; 29 is in __init__.py.

-- question: 00 rows
SELECT COUNT(*) FROM views;

-- question: 01 rows with an advertisement
SELECT COUNT(*) FROM views WHERE ad <> 0;

-- question: 02 three aggregates
SELECT SUM(ad), COUNT(*), AVG(width) FROM views;

-- question: 03 average of the user's number
SELECT AVG(user_id) FROM views;

-- question: 04 users
SELECT COUNT(DISTINCT user_id) FROM views;

-- question: 05 search phrases
SELECT COUNT(DISTINCT phrase) FROM views;

-- question: 06 first and last day
SELECT MIN(day), MAX(day) FROM views;

-- question: 07 advertising engines
-- by: ad
SELECT ad, COUNT(*)
FROM views
WHERE ad <> 0
GROUP BY ad
ORDER BY COUNT(*) DESC;

-- question: 08 users by region
-- by: region
SELECT region, COUNT(DISTINCT user_id) AS people FROM views GROUP BY region ORDER BY people DESC LIMIT 10;

-- question: 09 four aggregates by region
-- by: region
SELECT region, SUM(ad), COUNT(*) AS times, AVG(width), COUNT(DISTINCT user_id)
FROM views
GROUP BY region
ORDER BY times DESC LIMIT 10;

-- question: 10 users by phone model
-- by: model
SELECT model, COUNT(DISTINCT user_id) AS people
FROM views
WHERE model <> ''
GROUP BY model
ORDER BY people DESC LIMIT 10;

-- question: 11 users by phone and model
-- by: phone, model
SELECT phone, model, COUNT(DISTINCT user_id) AS people
FROM views
WHERE model <> ''
GROUP BY phone, model
ORDER BY people DESC LIMIT 10;

-- question: 12 search phrases by rows
-- by: phrase
SELECT phrase, COUNT(*) AS times
FROM views
WHERE phrase <> ''
GROUP BY phrase
ORDER BY times DESC LIMIT 10;

-- question: 13 search phrases by users
-- by: phrase
SELECT phrase, COUNT(DISTINCT user_id) AS people
FROM views
WHERE phrase <> ''
GROUP BY phrase
ORDER BY people DESC LIMIT 10;

-- question: 14 search engines and phrases
-- by: engine, phrase
SELECT engine, phrase, COUNT(*) AS times
FROM views
WHERE phrase <> ''
GROUP BY engine, phrase
ORDER BY times DESC LIMIT 10;

-- question: 15 rows by user
SELECT user_id, COUNT(*) FROM views GROUP BY user_id ORDER BY COUNT(*) DESC LIMIT 10;

-- question: 16 phrases by user
SELECT user_id, phrase, COUNT(*)
FROM views
GROUP BY user_id, phrase
ORDER BY COUNT(*) DESC LIMIT 10;

-- question: 17 some phrases by user
SELECT user_id, phrase, COUNT(*) FROM views GROUP BY user_id, phrase LIMIT 10;

-- question: 18 phrases by user and minute
SELECT user_id, minute(seen_at) AS minute, phrase, COUNT(*)
FROM views
GROUP BY user_id, minute, phrase
ORDER BY COUNT(*) DESC LIMIT 10;

-- question: 19 one user
SELECT user_id FROM views WHERE user_id = 71;

-- question: 20 rows with a page like search
SELECT COUNT(*) FROM views WHERE page LIKE '%search%';

-- question: 21 phrases with their first page
SELECT phrase, MIN(page), COUNT(*) AS times
FROM views
WHERE page LIKE '%search%' AND phrase <> ''
GROUP BY phrase
ORDER BY times DESC LIMIT 10;

-- question: 22 phrases with their first page and title
SELECT phrase, MIN(page), MIN(title), COUNT(*) AS times, COUNT(DISTINCT user_id)
FROM views
WHERE title LIKE '%Search%' AND page NOT LIKE '%.search.%' AND phrase <> ''
GROUP BY phrase
ORDER BY times DESC LIMIT 10;

-- question: 23 rows with all columns
SELECT * FROM views WHERE page LIKE '%search%' ORDER BY seen_at LIMIT 10;

-- question: 24 first phrases by time
SELECT phrase FROM views WHERE phrase <> '' ORDER BY seen_at LIMIT 10;

-- question: 25 first phrases by name
SELECT phrase FROM views WHERE phrase <> '' ORDER BY phrase LIMIT 10;

-- question: 26 first phrases by time and name
SELECT phrase FROM views WHERE phrase <> '' ORDER BY seen_at, phrase LIMIT 10;

-- question: 27 length of pages by site
-- by: site
SELECT site, AVG(STRLEN(page)) AS chars, COUNT(*) AS times
FROM views
WHERE page <> ''
GROUP BY site
HAVING COUNT(*) > 10000
ORDER BY chars DESC LIMIT 25;

-- question: 28 length of origins by host
-- by: host
SELECT regexp_replace(came_from, 'https?://([^/]*).*', '\1') AS host, AVG(STRLEN(came_from)) AS chars, COUNT(*) AS times, MIN(came_from)
FROM views
WHERE came_from <> ''
GROUP BY host
HAVING COUNT(*) > 10000
ORDER BY chars DESC LIMIT 25;

-- question: 30 addresses by engine
-- by: engine, address
SELECT engine, address, COUNT(*) AS times, SUM(reloaded), AVG(width)
FROM views
WHERE phrase <> ''
GROUP BY engine, address
ORDER BY times DESC LIMIT 10;

-- question: 31 addresses by visit, with a phrase
SELECT view_id, address, COUNT(*) AS times, SUM(reloaded), AVG(width)
FROM views
WHERE phrase <> ''
GROUP BY view_id, address
ORDER BY times DESC LIMIT 10;

-- question: 32 addresses by visit
SELECT view_id, address, COUNT(*) AS times, SUM(reloaded), AVG(width)
FROM views
GROUP BY view_id, address
ORDER BY times DESC LIMIT 10;

-- question: 33 pages by rows
-- by: page
SELECT page, COUNT(*) AS times FROM views GROUP BY page ORDER BY times DESC LIMIT 10;

-- question: 34 pages by rows, with a constant
-- by: page
SELECT 1, page, COUNT(*) AS times FROM views GROUP BY 1, page ORDER BY times DESC LIMIT 10;

-- question: 35 addresses and their neighbours
-- by: address
SELECT address, address // 256, address // 65536, address % 256, COUNT(*) AS times
FROM views
GROUP BY address, address // 256, address // 65536, address % 256
ORDER BY times DESC LIMIT 10;

-- question: 36 pages of a site
-- by: page
SELECT page, COUNT(*) AS n
FROM views
WHERE site = 7 AND day BETWEEN '2024-03-01' AND '2024-03-31' AND uncounted = 0 AND reloaded = 0 AND page <> ''
GROUP BY page
ORDER BY n DESC LIMIT 10;

-- question: 37 titles of a site
-- by: title
SELECT title, COUNT(*) AS n
FROM views
WHERE site = 7 AND day BETWEEN '2024-03-01' AND '2024-03-31' AND uncounted = 0 AND reloaded = 0 AND title <> ''
GROUP BY title
ORDER BY n DESC LIMIT 10;

-- question: 38 links of a site
-- by: page
SELECT page, COUNT(*) AS n
FROM views
WHERE site = 7 AND day BETWEEN '2024-03-01' AND '2024-03-31' AND reloaded = 0 AND linked <> 0 AND downloaded = 0
GROUP BY page
ORDER BY n DESC LIMIT 10 OFFSET 1000;

-- question: 39 sources and targets of a site
-- by: source, engine, ad, origin, target
SELECT source, engine, ad, IF(engine = 0 AND ad = 0, came_from, '') AS origin, page AS target, COUNT(*) AS n
FROM views
WHERE site = 7 AND day BETWEEN '2024-03-01' AND '2024-03-31' AND reloaded = 0
GROUP BY source, engine, ad, origin, target
ORDER BY n DESC LIMIT 10 OFFSET 1000;

-- question: 40 hashes by day
-- by: page_hash, day
SELECT page_hash, day, COUNT(*) AS n
FROM views
WHERE site = 7 AND day BETWEEN '2024-03-01' AND '2024-03-31' AND reloaded = 0 AND source IN (-1, 6) AND from_hash = 999983
GROUP BY page_hash, day
ORDER BY n DESC LIMIT 10 OFFSET 100;

-- question: 41 window sizes
-- by: window_width, window_height
SELECT window_width, window_height, COUNT(*) AS n
FROM views
WHERE site = 7 AND day BETWEEN '2024-03-01' AND '2024-03-31' AND reloaded = 0 AND uncounted = 0 AND page_hash = 1000003
GROUP BY window_width, window_height
ORDER BY n DESC LIMIT 10 OFFSET 10000;

-- question: 42 views by minute
-- by: minute
SELECT date_trunc('minute', seen_at) AS minute, COUNT(*) AS n
FROM views
WHERE site = 7 AND day BETWEEN '2024-03-14' AND '2024-03-15' AND reloaded = 0 AND uncounted = 0
GROUP BY minute
ORDER BY minute LIMIT 10 OFFSET 1000;
