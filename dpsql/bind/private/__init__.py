"""Clauses over private rows: FROM, joins, WHERE, GROUP BY, set operations, the options of a query."""
