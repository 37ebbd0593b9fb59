"""Differentially private SQL over a database whose owner sets the rules."""

__version__ = "0.1.0"
