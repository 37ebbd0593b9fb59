"""SQLAlchemy's dialect: ``create_engine("dpsql:///clinic.duckdb?policy=...&ledger=...&analyst=ana")``.

    dialect.py      URLs and execution
    compiler.py     SQLAlchemy's expressions as DuckDB's SQL
    types.py        DuckDB's types as SQLAlchemy's
    reflection.py   the tables of the policy

    engine = create_engine("dpsql:///clinic.duckdb?analyst=ana")
    with engine.connect() as connection:
        result = connection.execute(
            select(patients.c.ward, func.count()).group_by(patients.c.ward),
            execution_options={"epsilon": 0.1},
        )
        result.context.answer.margins

dpsql only reads: there are no transactions, and INSERT is refused like any other statement that is not a
query.
"""

from dpsql.bridges.alchemy.dialect import Dialect

__all__ = ["Dialect"]
