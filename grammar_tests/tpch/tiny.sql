-- A few hundred rows in the shape of TPC-H: 40 customers, 160 orders, 640 lines; every answered query finds some.
INSERT INTO region SELECT i, ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][i + 1], '' FROM range(5) AS t(i);
INSERT INTO nation SELECT i, ['ALGERIA', 'BRAZIL', 'CHINA', 'FRANCE', 'IRAN', 'KENYA', 'PERU', 'INDIA'][i + 1], i % 5, ''
FROM range(8) AS t(i);
INSERT INTO supplier SELECT i, 'Supplier ' || i, '', i % 8, '', 100 * i, '' FROM range(1, 17) AS t(i);
INSERT INTO part SELECT i, 'part ' || i, 'm', 'Brand', CASE WHEN i % 3 = 0 THEN 'PROMO TIN' ELSE 'SMALL TIN' END, i, 'BOX',
  900 + i, '' FROM range(1, 21) AS t(i);
INSERT INTO partsupp SELECT p, (p + 5 * s) % 16 + 1, 10, 5, '' FROM range(1, 21) AS t(p), range(2) AS u(s);
INSERT INTO customer SELECT i, 'Customer ' || i, '', i % 8, '', 10 * i,
  ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'][i % 5 + 1], '' FROM range(1, 41) AS t(i);
INSERT INTO orders SELECT i, i % 40 + 1, 'O', 1000 + i, DATE '1994-01-03' + CAST(7 * i % 700 AS INTEGER),
  ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][i % 5 + 1], 'Clerk', 0, '' FROM range(1, 161) AS t(i);
INSERT INTO lineitem SELECT o_orderkey, (o_orderkey * 3 + n * 7) % 20 + 1, c_custkey % 8 + 8 * (n % 2) + CASE WHEN c_custkey % 8 = 0 THEN 8 ELSE 0 END,
  n, (o_orderkey * 5 + n) % 50 + 1, 1000 + (o_orderkey * 37 + n * 101) % 9000, 0.01 * ((o_orderkey + n) % 11), 0.01 * (n % 9),
  ['A', 'N', 'R'][(o_orderkey + n) % 3 + 1], ['F', 'O'][n % 2 + 1], o_orderdate + 10, o_orderdate + 20, o_orderdate + 30,
  'NONE', ['AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'][(o_orderkey * 2 + n) % 7 + 1], ''
FROM orders JOIN customer ON c_custkey = o_custkey, range(1, 5) AS t(n);
