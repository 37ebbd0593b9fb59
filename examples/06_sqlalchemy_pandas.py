"""SQLAlchemy reflects the policy's tables and asks; pandas and polars read through it (dpsql[sqlalchemy])."""

import tempfile
from pathlib import Path

import duckdb
import pandas
import polars
from sqlalchemy import MetaData, create_engine, func, inspect, select

DATA = """
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, born DATE, country VARCHAR NOT NULL);
CREATE TABLE orders (customer_id INTEGER, product VARCHAR, price DECIMAL(9, 2));
CREATE TABLE products (product VARCHAR PRIMARY KEY, kind VARCHAR NOT NULL);
INSERT INTO customers SELECT i, DATE '1950-01-01' + (i * 7 % 20000)::INTEGER, ['NO', 'IT', 'JP'][1 + i % 3]
    FROM range(4000) AS t(i);
INSERT INTO orders SELECT i * 13 % 4000, ['atlas', 'novel', 'kite'][1 + i % 3], (i % 300) / 3
    FROM range(9000) AS t(i);
INSERT INTO products VALUES ('atlas', 'book'), ('novel', 'book'), ('kite', 'toy');
"""

POLICY = """
[budget]
epsilon = 6.0
delta = 1e-7
[analysts.ana]
epsilon = 3.0
[unit]
name = "customer"
table = "customers"
key = "customer_id"
[tables.customers.columns]
born    = { range = [1920-01-01, 2020-12-31] }
country = { values = ["NO", "IT", "JP"] }
[tables.orders]
unit = { column = "customer_id" }
rows_per_unit = 5
[tables.orders.columns]
product = {}
price   = { range = [0, 100] }
[tables.products]
public = true
key = "product"
"""

with tempfile.TemporaryDirectory() as folder:
    database = Path(folder) / "shop.duckdb"
    with duckdb.connect(str(database)) as owner:
        owner.execute(DATA)
    database.with_suffix(".toml").write_text(POLICY)

    # A URL names the database, and if need be ?policy=, ?ledger= and ?analyst=. The price is an option.
    engine = create_engine(f"dpsql:///{database}?analyst=ana", execution_options={"epsilon": 0.2})

    # What may be asked is in the policy, so reflecting reads no row and costs nothing.
    for column in inspect(engine).get_columns("orders"):
        print(f"{column['name']:12} {column['type']!s:14} {column['comment'] or ''}")
    meta = MetaData()
    meta.reflect(engine)
    customers, orders, products = (meta.tables[name] for name in ("customers", "orders", "products"))

    turnover = (
        select(products.c.kind, func.sum(orders.c.price).label("turnover"), func.count().label("orders"))
        .join_from(orders, products, orders.c.product == products.c.product)
        .group_by(products.c.kind)
        .order_by("kind")
    )
    with engine.connect() as connection:
        result = connection.execute(turnover)
        answer = result.context.answer  # ours, whole: margins, cost, remaining
        for row, (_, margin, _) in zip(result, answer.margins, strict=True):
            print(f"{row.kind}: {row.turnover:.0f} ± {margin:.0f}")
        print(f"cost {answer.cost}, remaining {answer.remaining:.2f}")

        # A foreign key says whose a row is, so a join needs no condition.
        joined = select(customers.c.country, func.avg(orders.c.price)).join_from(customers, orders)
        print(
            connection.execute(joined.group_by(customers.c.country), execution_options={"epsilon": 0.5}).all()
        )

    print(pandas.read_sql(turnover, engine, index_col="kind"))  # asked before: free
    print(
        polars.read_database("SELECT country, COUNT(*) AS customers FROM customers GROUP BY country", engine)
    )
    engine.dispose()
