"""Drawn queries: random relation trees, printed as an analyst's SQL, judged on random databases.

    python grammar_tests/drawn --triples 20000 --seed 7

A triple is a query, a database, and the database without one unit.

    tables      what the drawing knows of the world's tables
    scalars     expressions, drawn from every function of the shelf
    relations   trees of joins, filters, unions, per-unit work
    printing    a tree as SQL, in one of several hands
    bounded_units  queries in which more than rows bounds a unit
    queries     the query over a tree: keys, aggregates, the clauses above them
    illegal     queries that must be refused
    files       files of statements over the same rows, many of which are measured together
    databases   small random worlds full of odd values, and their neighbours
    two_columns a query as it is written where units have two columns
    judges      sensitivity, order of rows, ranges, meaning, silence
    coverage    what was drawn and how often
    shrinking   a query that breaks a rule, made smaller
    planted     errors put into the engine, each of which must be found
"""
