"""Expressions over private rows: scalars, aggregates, windows."""
