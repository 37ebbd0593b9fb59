"""The values that the pipeline hands on: relations, scalars, measures, plans, tables."""
