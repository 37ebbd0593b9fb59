"""The PostgreSQL engine: private rows stay in a server, which computes the exact sums of a measure.

url.py        where the server is, without a password      dialect.py    PostgreSQL's spelling of a measure
engine.py     the engine, one snapshot for each reading    functions.py  the vetted functions, and no other
walls.py      what must hold of server, role and session   casts.py      conversions that raise on no row
relations.py  which tables are read, and their columns     versions.py   which version of the data they hold
vetted.py     which measures are answered at all
"""
