"""Rewrites of syntax before binding: stars, PIVOT, quantiles, names of output columns."""
