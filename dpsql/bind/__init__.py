"""Query -> Split: what do the words mean, and where does privacy end?

split          the whole query: its measures, and the SQL above them
  queries      SELECT, set operations, VALUES, CTEs, tables: each Private or Open (sources)
    froms      FROM and its joins (joins: which are joins at all)
    select     one SELECT over private rows: projected, per_unit, or the release_point
    lifts      what its expressions need beside its columns: windows, subqueries (decorrelate, untied)
    groups     its keys (images: their public lists; grouping_sets)
    opened     one SELECT over released and public tables, kept as ordinary SQL (tied: its private subqueries)
    sets       UNION, INTERSECT, EXCEPT of private rows
  scalars      expressions: columns by names, constants, functions of the shelf
"""
