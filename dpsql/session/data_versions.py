"""Which version of the data an answer belongs to: what is held by the tables that its plan measures.

    SELECT AVG(age) FROM patients    people.csv as it is
    a new file in visits/            still free; what reads visits is asked anew
    touch, or a copy of the folder   still free

Claim   two plans of one digest on one version measure the same rows in the same way, so that an answer of one
        is an answer of the other.
Proof   All that a policy says of what is measured is in the plan, and so in its digest: ranges, lists, NULLs
        left out, keys, the columns of units, thresholds. What is not there decides how bytes become rows: the
        format of files and the time zone, which an engine's version holds (``Engine.version``).
Test    tests/privacy/test_versions.py: over all fixtures and policies of which each leaves one thing out,
        plans of one digest have the same SQL and the same noise
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from dpsql.engines.contents import Contents, hashed

if TYPE_CHECKING:
    from dpsql.accounting.ledger import Ledger
    from dpsql.engines import Engine


class DataVersions:
    """Versions of one session's tables. Its data does not change while it is open, or there is no answer."""

    def __init__(self, engine: Engine, ledger: Ledger) -> None:
        self._engine = engine
        self._contents = Contents(ledger.salt, ledger.contents, ledger.note_contents)
        self._known: dict[frozenset[str], str] = {}

    def of(self, tables: Collection[str]) -> str:
        """Return the version of these tables."""
        wanted = frozenset(tables)
        if wanted not in self._known:
            self._known[wanted] = self._engine.version(self._contents, wanted)
        return self._known[wanted]

    def whole(self) -> str:
        """Return the version of all tables."""
        return self._engine.version(self._contents)

    def reading(self, table: str) -> str:
        """Return the version of a table, and of what reads it: facts checked on rows hold for it only."""
        return hashed((self.of((table,)), self._engine.reader))
