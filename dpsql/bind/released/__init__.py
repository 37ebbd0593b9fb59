"""Ordinary SQL over released and public tables, with margins."""
