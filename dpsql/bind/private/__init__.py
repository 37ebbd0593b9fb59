"""Clauses over private rows: FROM, joins, WHERE, GROUP BY, set operations, query options."""
