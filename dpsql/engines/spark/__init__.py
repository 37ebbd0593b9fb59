"""The Spark engine: a folder's files, of which Spark computes the exact sums of a measure.

address.py    spark:local[2]:/data/lake       dialect.py    Spark's spelling of a measure
engine.py     the engine, one job a statement functions.py  the vetted functions, and no other
settings.py   what must hold of a session     casts.py      conversions that raise on no row
types.py      columns and their types         vetted.py     which measures are answered at all

access.py     how a Spark is had              this_process.py, connect_server.py    the two ways
                                              seen_files.py   what a server's machines see of files
"""
