"""A query that is given found ranges is the one that binding again with them would give."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

from cases import all_cases
from worlds import Worlds

import dpsql
from dpsql.bind.found_ranges import with_found_ranges
from dpsql.bind.split import bind
from dpsql.ir.bound import Bound, MissingBound
from dpsql.ir.column import ANYTHING, Interval
from dpsql.ir.measure import Split
from dpsql.ir.source import Source
from dpsql.plan.bound_search import widest
from dpsql.planning import parsed
from dpsql.policy.catalogue import Known, KnownTable
from dpsql.policy.found_bounds import with_bounds
from dpsql.rewrite import rewrite


def test_ranges_given_later_are_the_same_as_bound_again(worlds: Worlds) -> None:
    """Take all declared ranges away, bind, and give back what a query lacks, in both ways: a third of all."""
    given, again = 0, 0
    for case in all_cases()[::3]:
        if case.outcome == "refused":
            continue
        session = worlds.session("world", case)
        query, public = parsed(session, Source(case.sql), ()), session.sealed.public
        bare = _without_ranges(session.known)
        try:
            first = bind(query, bare, public, session.sealed.check)
            needed = rewrite(first, bare).needed
        except dpsql.Error:  # more than ranges is missing
            continue
        missing = {bound for bounds in needed for bound in bounds.bounds if isinstance(bound, MissingBound)}
        if not missing:
            continue
        known = with_bounds(bare, [_declared(bound, session.known) for bound in sorted(missing)])
        ranged = with_found_ranges(first, known)
        if ranged is None:
            again += 1
            continue
        given += 1
        assert _shown(ranged) == _shown(bind(query, known, public, session.sealed.check)), case.id
    assert given > 50
    assert again > 50


def _declared(missing: MissingBound, known: Known) -> Bound:
    """Return what the policy declares, as if it were found; else the widest range."""
    table = known.table(missing.table)
    assert table is not None
    domains = [column.fact.domain for column in table.columns if column.name == missing.column]
    wide = widest(missing, known)
    if not domains or not isinstance(domains[0], Interval) or math.inf in (domains[0].high, -domains[0].low):
        return wide
    return replace(wide, low=domains[0].low, high=domains[0].high)


def _without_ranges(known: Known) -> Known:
    return replace(known, tables=tuple(map(_bare, known.tables)))


def _bare(table: KnownTable) -> KnownTable:
    if table.public:
        return table
    columns = (
        replace(column, fact=replace(column.fact, domain=ANYTHING))
        if isinstance(column.fact.domain, Interval) and column.name != table.unit_column
        else column
        for column in table.columns
    )
    return replace(table, columns=tuple(columns))


def _shown(split: Split) -> list[dict[str, object]]:
    assert not split.needed
    return [asdict(stage) for stage in split.stages]
