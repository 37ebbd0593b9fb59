"""Query -> Split: resolve names, and find the release point, where privacy ends.

split            the whole query: its measures, and the SQL above them
  queries        SELECT, set operations, VALUES, CTEs, tables: each Private or Open (scope/sources)
    select       one SELECT: ordinary SQL, or private rows that are projected, per_unit, or the release_point
      subqueries/    subqueries of all kinds: joins, stages, constants
      released/      ordinary SQL, and the clauses above a release point
      private/       FROM, joins, WHERE, GROUP BY, set operations over private rows
      expressions/   scalars, aggregates, windows over private rows
      keys/          the groups of public keys: lists, and their combinations
      syntax/        stars, pivots, names of output columns
      scope/         names and what they stand for
"""
