"""Expressions and clauses over released numbers and public tables: ordinary SQL with margins."""
