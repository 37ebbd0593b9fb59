"""Rewrites of syntax before binding: stars, PIVOT, quantiles, and the names of output columns."""
