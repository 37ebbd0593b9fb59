"""Query -> Split: look up what the words mean, and find where privacy ends.

split            the whole query: its measures, and the SQL above them
  queries        SELECT, set operations, VALUES, CTEs, tables: each Private or Open (scope/sources)
    select       one SELECT: ordinary SQL, or private rows that are projected, per_unit, or the release_point
      subqueries/    subqueries of all kinds: joins, stages, constants
      released/      what stands above a release point, and ordinary SQL
      private/       FROM, joins, WHERE, GROUP BY, set operations over private rows
      expressions/   scalars, aggregates, windows over private rows
      syntax/        stars, pivots, names of output columns
      scope/         names and what they mean
"""
