"""Expressions over private rows: scalars, aggregates, windows, and the values that keys can have."""
