"""A policy with two private tables, a foreign key and a public table; then a mistake in it."""

import tempfile
from pathlib import Path

import duckdb

import dpsql
from dpsql.cli import main

DATA = """
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, born DATE, country VARCHAR);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER, placed DATE);
CREATE TABLE items (order_id INTEGER, product_id INTEGER, price DECIMAL(9, 2), pieces INTEGER);
CREATE TABLE products (product_id INTEGER PRIMARY KEY, kind VARCHAR NOT NULL);
INSERT INTO customers
    SELECT i, DATE '1950-01-01' + (i * 7 % 20000)::INTEGER, ['NO', 'IT', 'JP'][1 + i % 3]
    FROM range(4000) AS t(i);
INSERT INTO orders SELECT i, i * 13 % 4000, DATE '2024-01-01' + (i % 366)::INTEGER FROM range(9000) AS t(i);
INSERT INTO items SELECT i * 17 % 9000, i % 40, (i % 300) / 3, 1 + i % 4 FROM range(20000) AS t(i);
INSERT INTO products SELECT i, ['book', 'toy', 'tea'][1 + i % 3] FROM range(40) AS t(i);
"""

POLICY = """
[budget]
epsilon = 6.0
delta = 1e-7
accountant = "zcdp"                     # or "rdp", "pure", "approx"

[query]
epsilon = 0.5                           # the default price of a query
max_epsilon = 1.0                       # and the highest

[analysts.ana]
epsilon = 3.0                           # what ana may spend of it

[unit]
name = "customer"
table = "customers"
key = "customer_id"

[tables.customers.columns]
born    = { range = [1920-01-01, 2020-12-31] }
country = {}                            # no list: a country appears when enough customers are in it

[tables.orders]
key = "order_id"                        # no two rows share one: verified before it is relied on
unit = { column = "customer_id" }
rows_per_unit = 5                       # where the clipping of one customer's orders starts
[tables.orders.columns]
placed = { range = [2024-01-01, 2024-12-31] }

[tables.items]                          # whose is an item? whoever owns its order
unit = { column = "order_id", references = "orders.order_id" }
rows_per_unit = 10
[tables.items.columns]
product_id = {}
price      = { range = [0, 100] }
pieces     = { range = [0, 10] }

[tables.products]                       # nobody's rows: copied as they are
public = true
key = "product_id"
"""

TURNOVER = """
SELECT p.kind, SUM(i.price * i.pieces) AS turnover, COUNT(*) AS items
FROM items i JOIN products p USING (product_id)
GROUP BY p.kind ORDER BY turnover DESC
"""

with tempfile.TemporaryDirectory() as folder:
    database = Path(folder) / "shop.duckdb"
    with duckdb.connect(str(database)) as owner:
        owner.execute(DATA)
    policy = database.with_suffix(".toml")

    policy.write_text(POLICY.replace("rows_per_unit = 5", "rows_per_units = 5"))
    try:
        dpsql.connect(database)
    except dpsql.ProgrammingError as mistake:
        print(mistake, end="\n\n")

    policy.write_text(POLICY)
    main(["policy", "check", str(database)])

    with dpsql.connect(database, analyst="ana") as db:
        for row in db.execute(TURNOVER):
            print(row)
        print(db.budget)
