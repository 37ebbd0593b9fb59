-- What BI tools generate over the demo's clinic, in the shape of their public generators: a name, and either the
-- columns of the answer or the code of the refusal.

-- Metabase: count by a field; columns: ward, count
SELECT "public"."patients"."ward" AS "ward", COUNT(*) AS "count" FROM "public"."patients"
GROUP BY "public"."patients"."ward" ORDER BY "public"."patients"."ward" ASC;

-- Metabase: a month; columns: day, sum
SELECT CAST(DATE_TRUNC('month', "public"."visits"."day") AS DATE) AS "day", SUM("public"."visits"."cost") AS "sum"
FROM "public"."visits" GROUP BY CAST(DATE_TRUNC('month', "public"."visits"."day") AS DATE)
ORDER BY CAST(DATE_TRUNC('month', "public"."visits"."day") AS DATE) ASC;

-- Metabase: weeks that begin on Sunday; columns: day, count
SELECT (CAST(DATE_TRUNC('week', ("public"."visits"."day" + INTERVAL '1 day')) AS timestamp) + (INTERVAL '-1 day')) AS "day",
COUNT(*) AS "count" FROM "public"."visits"
GROUP BY (CAST(DATE_TRUNC('week', ("public"."visits"."day" + INTERVAL '1 day')) AS timestamp) + (INTERVAL '-1 day'))
ORDER BY 1 ASC;

-- Metabase: bins; columns: age, count
SELECT FLOOR(("public"."patients"."age" / 10.0)) * 10.0 AS "age", COUNT(*) AS "count" FROM "public"."patients"
GROUP BY FLOOR(("public"."patients"."age" / 10.0)) * 10.0 ORDER BY FLOOR(("public"."patients"."age" / 10.0)) * 10.0 ASC;

-- Metabase: a question over a model, with a filter; columns: sex, avg
-- Metabase:: userID: 1 queryType: MBQL queryHash: 5a
SELECT "source"."sex" AS "sex", AVG("source"."age") AS "avg" FROM (
SELECT "public"."patients"."patient_id" AS "patient_id", "public"."patients"."age" AS "age",
"public"."patients"."sex" AS "sex", "public"."patients"."ward" AS "ward" FROM "public"."patients") AS "source"
WHERE (LOWER("source"."ward") LIKE '%card%') GROUP BY "source"."sex" ORDER BY "source"."sex" ASC;

-- Metabase: a join along a key; columns: Wards__building, count
SELECT "Wards"."building" AS "Wards__building", COUNT(*) AS "count" FROM "public"."visits"
LEFT JOIN "public"."wards" AS "Wards" ON "public"."visits"."ward" = "Wards"."ward"
GROUP BY "Wards"."building" ORDER BY "Wards"."building" ASC;

-- Metabase: its fingerprint of a table; refused: D402
SELECT SUBSTRING("public"."patients"."town", 1, 1234) AS "substring1", "public"."patients"."age" AS "age"
FROM "public"."patients" LIMIT 10000;

-- Tableau: a sum of records; columns: ward, cnt:patients:ok
SELECT "patients"."ward" AS "ward", COUNT(1) AS "cnt:patients:ok" FROM "public"."patients" "patients" GROUP BY 1;

-- Tableau: a year; columns: sum:cost:ok, yr:day:ok
SELECT SUM("visits"."cost") AS "sum:cost:ok", CAST(TRUNC(EXTRACT(YEAR FROM "visits"."day")) AS INTEGER) AS "yr:day:ok"
FROM "public"."visits" "visits" GROUP BY 2;

-- Tableau: a month with a filter of dates; columns: avg:cost:ok, tmn:day:ok
SELECT AVG(CAST("visits"."cost" AS DOUBLE PRECISION)) AS "avg:cost:ok",
DATE_TRUNC('MONTH', CAST("visits"."day" AS TIMESTAMP)) AS "tmn:day:ok" FROM "public"."visits" "visits"
WHERE (("visits"."day" >= (DATE '2024-02-01')) AND ("visits"."day" <= (DATE '2024-06-30'))) GROUP BY 2;

-- Tableau: nothing but a total; columns: sum:age:ok
SELECT SUM("patients"."age") AS "sum:age:ok" FROM "public"."patients" "patients"
WHERE ("patients"."ward" IN ('Cardiology', 'Oncology')) HAVING (COUNT(1) > 0);

-- Superset: a chart over a time range; columns: __timestamp, count
SELECT DATE_TRUNC('day', day) AS __timestamp, COUNT(*) AS count FROM public.visits
WHERE day >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
AND day < TO_TIMESTAMP('2024-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY DATE_TRUNC('day', day) ORDER BY count DESC LIMIT 1000;

-- Superset: a time range of dates; columns: ward, AVG(cost)
SELECT ward AS ward, AVG(cost) AS "AVG(cost)" FROM public.visits
WHERE day >= TO_DATE('2024-03-01', 'YYYY-MM-DD') AND day < TO_DATE('2024-09-01', 'YYYY-MM-DD')
GROUP BY ward ORDER BY "AVG(cost)" DESC LIMIT 100;

-- Superset: a virtual table; columns: town, COUNT_DISTINCT(patient_id)
SELECT town AS town, COUNT(DISTINCT patient_id) AS "COUNT_DISTINCT(patient_id)" FROM
(SELECT * FROM patients WHERE age > 18) AS virtual_table WHERE ((ward ~* 'card') OR (ward ILIKE 'on%'))
GROUP BY town ORDER BY "COUNT_DISTINCT(patient_id)" DESC LIMIT 100;

-- Superset: a sample of rows; refused: D402
SELECT patient_id AS patient_id, age AS age, sex AS sex FROM public.patients LIMIT 1000 OFFSET 0;

-- Power BI: a table behind selects; columns: ward, a0
select "rows"."ward" as "ward", count(1) as "a0" from (select "_"."ward", "_"."age" from (
select "patient_id", "age", "sex", "ward", "town", "smoker" from "public"."patients" "$Table") "_"
where "_"."age" >= 65) "rows" group by "ward" limit 1000001;

-- Power BI: a total; columns: a0, a1
select sum(cast("_"."cost" as decimal(18, 2))) as "a0", min("_"."day") as "a1" from "public"."visits" "_";

-- Power BI: a preview of a table; refused: D402
select "$Ordered"."patient_id", "$Ordered"."age" from (select "patient_id", "age" from "public"."patients" "$Table") "$Ordered"
order by "$Ordered"."patient_id" limit 1001;

-- Looker: months; columns: visits.day_month, visits.total_cost
SELECT (TO_CHAR(DATE_TRUNC('month', visits.day), 'YYYY-MM')) AS "visits.day_month",
COALESCE(SUM(CAST(visits.cost AS DOUBLE PRECISION)), 0) AS "visits.total_cost"
FROM public.visits AS visits WHERE ((( visits.day ) >= (TO_TIMESTAMP('2024-01-01', 'YYYY-MM-DD'))))
GROUP BY (DATE_TRUNC('month', visits.day)) ORDER BY 1 DESC FETCH NEXT 500 ROWS ONLY;

-- Looker: a distinct count by day of the week; columns: visits.weekday, visits.patients
SELECT TO_CHAR(visits.day, 'FMDay') AS "visits.weekday", COUNT(DISTINCT visits.patient_id) AS "visits.patients"
FROM public.visits AS visits GROUP BY 1 ORDER BY 2 DESC FETCH NEXT 500 ROWS ONLY;

-- Looker: a join; columns: wards.building, patients.average_age
SELECT wards.building AS "wards.building", AVG(patients.age) AS "patients.average_age" FROM public.patients AS patients
LEFT JOIN public.wards AS wards ON patients.ward = wards.ward GROUP BY 1 ORDER BY 2 DESC FETCH NEXT 500 ROWS ONLY;

-- dbplyr: the columns of a table; columns: patient_id, age, sex, ward, town, smoker
SELECT * FROM "patients" AS "q01" WHERE (0 = 1);

-- dbplyr: group_by and summarise; columns: ward, n, age
SELECT "ward", COUNT(*) AS "n", AVG("age") AS "age" FROM "patients" WHERE ("age" > 17.0) GROUP BY "ward";

-- dbplyr: count and arrange; columns: month, n
SELECT "month", COUNT(*) AS "n" FROM (SELECT "visits".*, EXTRACT(MONTH FROM "day") AS "month" FROM "visits") AS "q01"
GROUP BY "month" ORDER BY "n" DESC LIMIT 6;

-- psqlODBC (Excel): a whole name; columns: ward, patients
SELECT "ward", COUNT(*) AS "patients" FROM "clinic"."public"."patients" WHERE "ward" LIKE E'C%' GROUP BY "ward";

-- dbplyr: head; refused: D402
SELECT "patients".* FROM "patients" LIMIT 6;
