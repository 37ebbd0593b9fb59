"""The steps of a SELECT whose rows are found once: CTEs, or subqueries for an engine that keeps no CTE.

    WITH n AS (SELECT ...) SELECT ... FROM n AS r            n is computed once
    SELECT ... FROM (SELECT ...) AS r                        Spark would compute a CTE for each reader as well

Spark reads what it has cached in the place of an equal plan, but finds no such plan where one statement has
the CTEs of the cached SELECT and some of its own.
"""

from __future__ import annotations

from dpsql.engines.dialect import Dialect


class Steps:
    """Those of one SELECT."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._listed: list[str] = []

    def table(self, name: str, select: str) -> str:
        """Add a step, and print its rows as a table of FROM that is given a name there."""
        if not self._dialect.keeps:
            return f"({select})"
        self._listed.append(self._dialect.kept(name, select))
        return name

    def sql(self, select: str) -> str:
        """Print the SELECT of the last step."""
        return f"WITH {', '.join(self._listed)} {select}" if self._listed else select
