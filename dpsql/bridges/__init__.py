"""Adapters for other people's tools: what each expects of a database, said in terms of a Connection.

alchemy      SQLAlchemy's dialect ``dpsql:///clinic.duckdb?analyst=ana``, and what stands on it
             (pandas, polars, JupySQL)

Each bridge imports its tool, so nothing imports a bridge: the tool finds it by its entry point.
"""
