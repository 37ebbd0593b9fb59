"""DuckDB's driver without what is written in Python around it.

    from dpsql.driver import duckdb

``import duckdb`` loads relations, expressions and readers of other packages' frames, which takes as long as
all of numpy; dpsql sends SQL and fetches rows. The compiled module below it is the same one, with the same
connections and the same errors, whoever else loads the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
else:
    try:
        import _duckdb as duckdb
    except ImportError:  # where a version of the package has another name for it
        import duckdb

__all__ = ["duckdb"]
