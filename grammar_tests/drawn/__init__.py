"""Drawn queries on the worlds of the fixtures, and errors that drawn queries must find.

    python grammar_tests/drawn --triples 20000 --seed 7

What draws and judges is ``dpsql.fuzz``; this is what only tests have.

    tables      what drawing knows of the fixtures' tables
    databases   small random worlds full of odd values, and their neighbours
    illegal     queries that must be refused
    meaning     what plain DuckDB answers
    coverage    what was drawn and how often
    run         one run on the worlds
    planted     errors put into the engine, each of which must be found
"""
