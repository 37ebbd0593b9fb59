"""Load what a query needs while its database is opened.

    ahead()                                beside it:   import dpsql.pipeline, an engine that checks grammar
    with opened(options) as db:            meanwhile:   read the policy, open the file, check the ledger
        answered(db, sql)

DuckDB starts engines without Python's lock, so that Python goes on with its imports. Nothing is asked of the
analyst's text here. What fails here fails again, and is reported, where it is needed.
"""

from __future__ import annotations

import threading
from contextlib import suppress


def ahead() -> None:
    """Start to load what parses, plans and releases."""
    for load in (_start_parser, _import_pipeline):
        threading.Thread(target=load, daemon=True).start()


def _start_parser() -> None:
    with suppress(Exception):
        from dpsql.parse.grammar import start

        start()


def _import_pipeline() -> None:
    with suppress(Exception):
        import dpsql.pipeline  # noqa: F401
