"""Data classes that the steps of the pipeline exchange: relations, scalars, measures, plans, tables."""
