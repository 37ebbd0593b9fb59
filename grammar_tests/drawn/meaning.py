"""The judge of meaning: on calm data and without noise, a query answers what plain DuckDB does."""

from __future__ import annotations

from decimal import Decimal

import duckdb

from dpsql.audit import plan_of
from dpsql.audit.oracles import grain, meaning, silent_rows
from dpsql.fuzz.judges import measures_of
from dpsql.fuzz.queries import Query
from dpsql.fuzz.world import World
from dpsql.ir.plan import Plan, PublicKeys


def meant(sql: str, query: Query, calm: World, together: Plan | None = None) -> list[str]:
    """The answer without noise against plain DuckDB's; [] where plain DuckDB fails on a value.

    Each sum may be off by the roundings of its own grid: it is written in steps of a thousand of them.
    ``together`` is the plan where it is measured with others.
    """
    try:
        plain = calm.plain.execute(sql).fetchall()
    except duckdb.Error:
        return []
    try:
        plan = together or plan_of(calm.session, sql, 1.0)
        ours = silent_rows(calm.session, plan)
    except Exception as error:  # whatever it is, it is a violation
        return [f"without noise: {type(error).__name__}: {error}"]
    if any(f"to_{long}(" in sql for long in ("years", "decades", "centuries", "millennia")):
        return []  # durations end earlier here: beyond the end they are NULL
    if "epoch_ns(" in sql and "AT TIME ZONE" in sql:
        return []  # a moment of as many microseconds as there were nanoseconds has no local time here
    measures = measures_of(plan)
    public = any(each.keys and (isinstance(each.rule, PublicKeys) or each.rule.listed) for each in measures)
    if any(key.fact.type.sql == "TIMESTAMP_NS" for each in measures for key in each.keys):
        return []  # groups are of microseconds at most
    if public and query.above:
        return []  # empty groups count for LIMIT, and are shown to HAVING
    steps = [grain(finish, m.measure) or 1e-3 for m in measures for finish in m.measure.finishes]
    if len(steps) != len(query.calls):
        steps = [max(steps, default=1.0)] * len(query.calls)
    scales = [max(1e-3, 1e3 * step) for step in steps]

    def scaled(row: tuple[object, ...]) -> tuple[object, ...]:
        """A sum over nothing is 0 here and NULL in SQL; keys agree to seven digits.

        A unit's floats are added up on a grid, so that the tenth may differ.
        """
        keys = (f"{key:.7g}" if isinstance(key, float | Decimal) else key for key in row[: query.labels])
        numbers = zip(row[query.labels :], scales, strict=True)
        return (*keys, *(0.0 if n is None else float(str(n)) / scale for n, scale in numbers))

    return meaning([scaled(row) for row in ours], [scaled(row) for row in plain], 1.0, public)
