"""Subqueries: run at once if public, released in a stage of their own, or turned into joins."""
