"""Drawn queries on drawn databases, each judged with and without one unit; on an owner's policy, too.

    dpsql audit clinic.duckdb --fuzz 20000 --seed 7

A triple is a query, a database, and the database without one unit.

    schemas         what drawing needs to know of a database
    known_schema    a policy's tables as such a schema
    scalars         expressions, drawn from every function of the shelf
    relations       trees of joins, filters, unions, per-unit work
    printing        a tree as SQL, in one of several hands
    bounded_units   queries in which more than rows bounds a unit
    queries         the query over a tree: keys, aggregates, the clauses above them; models; private views
    files           files of statements over the same rows, many of which are measured together
    two_columns     a query as it is written where units have two columns
    made_rows       private rows for any schema, full of odd values
    drawn_policies  schemas and policies at random
    owners_schema   the owner's schema and policy, without private rows
    world           a database that is open, its neighbours and a shuffled copy
    copies          which neighbours may differ in a measure
    judges          sensitivity, order of rows, fast sums, ranges, silence
    judging         what was judged so far
    shrinking       a query that breaks a rule, made smaller
    run, long_run   draw and judge, on one world and on many
"""
