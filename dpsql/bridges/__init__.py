"""Adapters for other tools, written over a Connection.

alchemy      SQLAlchemy's dialect ``dpsql:///clinic.duckdb?analyst=ana``, also for pandas, polars
             and JupySQL
harlequin    Harlequin's adapter

Each bridge imports its tool, so nothing imports a bridge: the tool finds it by its entry point.
"""
