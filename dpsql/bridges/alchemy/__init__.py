"""SQLAlchemy's dialect: ``create_engine("dpsql:///clinic.duckdb?policy=...&ledger=...&analyst=ana")``.

    dialect.py      what a URL may say, how a statement is asked and paid for
    compiler.py     SQLAlchemy's expressions in DuckDB's words
    types.py        DuckDB's types as SQLAlchemy's
    reflection.py   the tables that the policy lets exist

    engine = create_engine("dpsql:///clinic.duckdb?analyst=ana")
    with engine.connect() as connection:
        result = connection.execute(
            select(patients.c.ward, func.count()).group_by(patients.c.ward),
            execution_options={"epsilon": 0.1},
        )
        result.context.answer.margins

Everything is read and nothing written: there are no transactions, and INSERT is refused like any other
statement that is not a question.
"""

from dpsql.bridges.alchemy.dialect import Dialect

__all__ = ["Dialect"]
