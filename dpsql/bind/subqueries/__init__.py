"""Subqueries: evaluated at once if public, released in an earlier stage, or rewritten as joins."""
