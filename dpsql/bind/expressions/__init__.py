"""Expressions over private rows: scalars, aggregates, windows, and domains of group keys."""
