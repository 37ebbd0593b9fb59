"""STRING_AGG of one unit's texts in an order: a path, for LIKE and for groups.

    STRING_AGG(kind, '>' ORDER BY visited_on)    checkup>surgery>checkup

Of more than 1,000 texts the first ones count, and the result is cut at 65,536 characters, as every text that
is put together is: so its size has a bound, whatever one unit's rows hold.

Claim   the result depends on nothing but the multiset of the unit's rows, and no row makes it fail.
Proof   the order is complete (picked.py); 1,000 texts of 65,536 characters fit into a text of DuckDB.
Test    grammar_tests/per_unit/paths.sql, tests/privacy/test_picked_rows.py
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import Rule, Unbounded
from dpsql.functions.text.common import cut
from dpsql.ir.column import ANYTHING, VARCHAR, Fact, Kind

MOST = 1_000
"""The number of texts that are put together."""


class StringAgg(Rule):
    name = "string_agg"
    nodes = (exp.GroupConcat,)
    names = ("group_concat", "listagg")
    in_order = "list"
    asks_order = True
    picks = True
    skips = (True, False)
    example = "STRING_AGG(x, ',' ORDER BY y)"

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind is not Kind.TEXT:
            raise Unbounded("STRING_AGG puts texts together", "write CAST(... AS VARCHAR)", code="D205")
        return Fact(VARCHAR, ANYTHING, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        raise AssertionError("it is printed in an order")

    def ordered_sql(self, argument: str, order: str, filtered: str, *others: str) -> str:
        texts = f"list({cut(f'CAST({argument} AS VARCHAR)')}{order}){filtered}"
        return cut(f"array_to_string(list_slice({texts}, 1, {MOST}), {others[0]})")


RULES = (StringAgg(),)
