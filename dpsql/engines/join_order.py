"""The order of inner joins, for an engine that joins tables as they are written.

    lineitem JOIN orders ON ... JOIN part ON l_partkey = p_partkey ...     all lines meet their orders
    lineitem JOIN part ON ... JOIN orders ON ...                           those of few parts do

Claim   in any order in which each condition reads tables that are there, the rows are the same.
Proof   A row of a chain of inner joins is made of one row of each table such that all conditions hold. A
        condition may be asked of rows that another leaves out: it does not raise (settings.py of Spark), and
        these rows stay out, whatever it says of them.
Test    tests/privacy/test_join_order.py, tests/privacy/test_spark.py

Public rows of which one is met at most come first: they leave rows of the private table out, or add a few
columns to them, before these are sorted by what joins them with another private table.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Joined:
    """A table of a chain of inner joins, as it is printed: ``on`` are its conditions on those before it.

    The conditions read the columns ``reads`` of others; ``early`` says that the table may be joined before
    those that are written before it.
    """

    sql: str
    names: frozenset[str]
    on: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    early: bool = False


def public_first(chain: Sequence[Joined]) -> list[Joined]:
    """Return the tables of a chain in the order in which they are joined."""
    first, *left = chain
    ordered, there = [first], first.names
    while left:
        ready = (each for each in left if each.early and each.reads <= there)
        table = next(ready, left[0])  # all before the first one that is left are there
        left.remove(table)
        ordered.append(table)
        there |= table.names
    return ordered


def chain_sql(chain: Sequence[Joined]) -> str:
    """Print the joined tables of FROM."""
    first, *others = public_first(chain)
    return " ".join([first.sql, *(f"INNER JOIN {each.sql} ON {_on(each)}" for each in others)])


def _on(table: Joined) -> str:
    return " AND ".join(table.on) or "true"
