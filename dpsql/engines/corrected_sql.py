"""Sum everything, correct the few: a planned measure without a sum per unit.

    A    SELECT keys, SUM(cell) FROM all rows GROUP BY keys              no unit, no path to it
    B    SELECT keys, SUM(clipped - cell) FROM rows of special units     those that a clip might scale
    C    SELECT keys, -SUM(cell) FROM rows of nobody                     A has them, where it reads no unit

    the measure = A + B + C, in whole numbers

Claim   the sums are those of measure_sql.py, number by number, but for groups that have no sum other than 0.
Proof   There, a group's sum adds up each unit's clipped part. A unit that is not special is light
        (facts/light_units.py): its norm is at most the clip, so that its part is the sum of its cells (the
        factor is 1 or absent, and no sum reaches ``CELL``, which is above the clip). A special unit has
        SUM(cell) in A and SUM(clipped - cell) in B. Rows of nobody are in A alone, where it reads no units
        (``reads_units``), and C takes them away. DISTINCT units are counted for each group in A, as there; or
        ``by_rows``: then a unit that is not special has one row in each of its groups, which is its count,
        and B has the count of each special unit less its rows. Where all rows are alone in their unit's
        groups (facts/lone_rows.py), they are counted in A, and are the sums of B.
        The keys' conditions hold for groups in A and for rows in B and C: they read nothing but keys.
        A computes in DOUBLES only where ``fits`` allows; whole numbers of 128 bits are exact in any order.
        An engine whose ``with_factors`` keeps the rows of all units adds 0 for those that are not heavy.
Test    grammar_tests/test_corrected.py (all fixtures, neighbours), tests/privacy/test_light_units.py,
        grammar_tests/test_postgres_fixtures.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from dpsql.engines.arithmetic import WHOLE, Arithmetic, in_whole_numbers
from dpsql.engines.dialect import DUCKDB
from dpsql.engines.measure_sql import (
    CELL,
    bounded_sql,
    clipped_sql,
    factor_sql,
    inside,
    inside_groups,
    joined_factors,
    met,
    read_twice,
    rows_alone,
    rowwise,
    scaled_sql,
    sums_are_rows,
    unit_norm_sql,
    vectors_of,
)
from dpsql.engines.number_sql import added_sql
from dpsql.engines.relation_sql import Found, Reading
from dpsql.engines.row_cells import NOT_KNOWN, Ends, Row, rows_sql
from dpsql.engines.row_copies import decoded_sql
from dpsql.facts.lent_units import reads_units
from dpsql.ir.plan import MeasurePlan, Norm, Shape, Threshold
from dpsql.ir.statistic import Part, Statistic
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Special:
    """The rows of a table that are summed apart.

    ``units`` reads the rows of units that a clip might scale, ``nobody`` those that belong to no unit; None
    where there are none. ``codes``: the keys at these places are codes of these values in ``units``.
    ``by_rows``: all other units have at most one row in each group, so that rows are counted for them.
    """

    units: Reading | None = None
    nobody: Reading | None = None
    codes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    by_rows: bool = False


def counts_units(planned: MeasurePlan) -> bool:
    """Whether a statistic counts each unit once."""
    return any(statistic.part is Part.UNITS for statistic in planned.measure.statistics)


def corrected_sql(
    planned: MeasurePlan,
    special: Special,
    arithmetic: Arithmetic,
    ends: Mapping[Statistic, Ends] = NOT_KNOWN,
    found: Found | None = None,
) -> str:
    """Return the SELECT of one row per group: its keys, then its exact clipped sums in grid steps.

    ``ends`` and ``found`` say what is known of the values in all rows (extremes.py).
    """
    assert planned.bound[1] < CELL
    by_rows = special.by_rows
    units = (counts_units(planned) and not by_rows) or reads_units(planned.measure)
    dialect = arithmetic.dialect
    reading = Reading(units=units, found=found, dialect=dialect)
    row = rows_sql(planned, reading, arithmetic, ends, True)
    parts = [_summed(planned, row, "", by_rows)]
    if special.units is not None:
        apart, once = replace(special.units, found=found).read_once()
        rows = rows_sql(planned, apart, arithmetic, ends)
        parts.append(_differences(planned, rows, special.codes, by_rows, once))
    if special.nobody is not None and not units:
        whole = WHOLE if dialect is DUCKDB else in_whole_numbers(dialect)
        nobody = rows_sql(planned, special.nobody, whole)
        parts.append(_summed(planned, nobody, "-", by_rows))
    return _together(planned, row, parts)


def _summed(planned: MeasurePlan, row: Row, sign: str, by_rows: bool) -> str:
    """Print the sums of all rows, unclipped."""
    conditions = inside_groups(planned, row.keys, dialect=row.dialect)
    sums = [
        f"{sign}({_sum(statistic, row, by_rows)}) AS total{i}"
        for i, statistic in enumerate(planned.measure.statistics)
    ]
    tail = _by(row, conditions)
    return f"SELECT {', '.join([*row.keys, *sums])} FROM {row.dialect.subquery(row.sql)}{tail}"


def _by(row: Row, conditions: Sequence[str]) -> str:
    if not row.keys:
        return ""
    having = f" HAVING {' AND '.join(conditions)}" if conditions else ""
    return f" GROUP BY {', '.join(row.keys)}{having}"


def _sum(statistic: Statistic, row: Row, by_rows: bool) -> str:
    if statistic.part is Part.UNITS and by_rows:
        return rowwise(statistic, row)
    if statistic.part is Part.UNITS:
        counted = row.counted[statistic]
        unit = "u" if counted == "*" else f"CASE WHEN {counted} IS NOT NULL THEN u END"
        return f"count(DISTINCT {unit}) * {row.dialect.wide(str(statistic.most))}"
    return row.summed(statistic)


def _differences(
    planned: MeasurePlan, row: Row, codes: Mapping[int, tuple[str, ...]], by_rows: bool, once: list[str]
) -> str:
    """Print what the clip, and counting rows, changes in the sums of special units, read with these CTEs."""
    if planned.shape is not Shape.L1:
        changes = _of_cells(planned, row, codes, by_rows)
    else:
        conditions = inside(planned, row.keys, codes, row.dialect)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        changes = _of_rows(planned, row, f"SELECT * FROM {row.dialect.subquery(row.sql)}{where}")
    if once:
        changes = f"WITH {', '.join([*once, changes.removeprefix('WITH ')])}"
    values = [
        f"{decoded_sql(key, codes[place])} AS {key}" if place in codes else key
        for place, key in enumerate(row.keys)
    ]
    totals = (f"total{i}" for i in range(len(planned.measure.statistics)))
    return f"SELECT {', '.join([*values, *totals])} FROM {row.dialect.subquery(changes)}"


def _of_cells(planned: MeasurePlan, row: Row, codes: Mapping[int, tuple[str, ...]], by_rows: bool) -> str:
    statistics = planned.measure.statistics
    names = [f"s{i}" for i in range(len(statistics))]
    by = ", ".join(["u", *row.keys])
    bound, clip = planned.bound
    dialect, below = row.dialect, row.dialect.subquery
    size = dialect.double("n")
    limit, root = (clip, size) if bound is Norm.L1 else (clip**2, f"sqrt({size})")
    factor, heavy = f"{factor_sql(planned, dialect)} / {root}", f"n > {dialect.wide(f'{limit}')}"
    if planned.groups is not None:
        factor = f"CASE WHEN g > {planned.groups} THEN {dialect.real(0)} ELSE {factor} END"
        heavy += f" OR g > {planned.groups}"
    sums = ", ".join(
        f"{row.summed(statistic)} AS {name}" for statistic, name in zip(statistics, names, strict=True)
    )
    everywhere = list(names)  # what all rows have added up
    alone = sums_are_rows(planned, dialect)
    by_rows = by_rows and not alone  # they are counted as their units are
    if by_rows:
        for i, statistic in enumerate(statistics):
            if statistic.part is Part.UNITS:
                everywhere[i] = f"a{i}"
                sums += f", {rowwise(statistic, row)} AS a{i}"
    conditions = inside_groups(planned, row.keys, codes, dialect)
    having = f" HAVING {' AND '.join(conditions)}" if conditions else ""
    cells, bounded = f"SELECT {by}, {sums} FROM {below(row.sql)} GROUP BY {by}{having}", names
    if alone:
        conditions = inside(planned, row.keys, codes)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        cells = rows_alone(planned, row, f"SELECT * FROM {below(row.sql)}{where}")
    elif not row.arithmetic.small:
        bounded = [f"b{name}" for name in names]
        listed = ", ".join(
            f"{bounded_sql(name, CELL, dialect)} AS {b}" for name, b in zip(names, bounded, strict=True)
        )
        cells = f"SELECT *, {listed} FROM {below(cells)}"
    norms = f"SELECT u, {unit_norm_sql(bounded, bound, dialect)} AS n, count(*) AS g FROM q GROUP BY u"
    factors = f"SELECT u, {factor} AS f FROM {below(norms)} WHERE {heavy}"
    scaled = dialect is DUCKDB and not by_rows  # all rows that are joined have a factor
    clipped = [dialect.cut(f"{b} * f") if scaled else clipped_sql(b, dialect) for b in bounded]
    changes = [f"sum({b} - {name})" for b, name in zip(clipped, everywhere, strict=True)]
    if not row.keys:
        changes = [f"coalesce({change}, 0)" for change in changes]
    changes = [f"{change} AS total{i}" for i, change in enumerate(changes)]
    return (
        f"WITH {dialect.kept('q', cells)}, h AS ({factors}) "
        f"SELECT {', '.join([*row.keys, *changes])} "
        f"FROM {dialect.with_factors('q', 'h', by_rows)}{_by(row, ())}"
    )


def _of_rows(planned: MeasurePlan, row: Row, rows: str) -> str:
    vectors = [scaled_sql(vector, row) for vector in vectors_of(planned.measure)]
    weights = dict.fromkeys(vector.most for vector in vectors if vector.most is not None)
    _, limit = planned.bound
    dialect = row.dialect
    scaled = "".join(
        f", {row.arithmetic.truncated(f'{dialect.real(most)} * f')} AS w{most}" for most in weights
    )
    units = f"SELECT u, {added_sql([vector.norm for vector in vectors])} AS n FROM r GROUP BY u"
    less = f"{factor_sql(planned, dialect)} / {dialect.double('n')}"
    heavy, below = f"n > {dialect.wide(f'{limit}')}", dialect.subquery
    factor = f"SELECT u, {less} AS f FROM {below(units)} WHERE {heavy}"
    if dialect is not DUCKDB:  # others have the factor 1, which changes nothing (with_factors)
        choice = f"CASE WHEN {heavy} THEN {less} ELSE {dialect.real(1)} END"
        factor = f"SELECT u, {choice} AS f FROM {below(units)}"
    sums = dict(column for vector in vectors for column in vector.sums)
    changes = [
        f"{sums[i]} - ({row.summed(statistic)}) AS total{i}"
        for i, statistic in enumerate(planned.measure.statistics)
    ]
    joined = joined_factors(dialect, weights)
    return (
        f"WITH {read_twice(planned, rows, dialect=dialect)}, "
        f"h AS (SELECT u, f{scaled} FROM {below(factor)}) "
        f"SELECT {', '.join([*row.keys, *changes])} FROM {below(joined)}{_by(row, ())}"
    )


def _together(planned: MeasurePlan, row: Row, parts: list[str]) -> str:
    """Print the sums of all parts, of groups that may be shown."""
    totals = [f"total{i}" for i in range(len(planned.measure.statistics))]
    outer = [
        row.dialect.carried(key, column.fact.type) for column, key in zip(planned.keys, row.keys, strict=True)
    ]
    if len(parts) == 1:
        source = parts[0]
    else:
        sums = ", ".join([*row.keys, *(f"sum({total}) AS {total}" for total in totals)])
        source = f"SELECT {sums} FROM {row.dialect.subquery(' UNION ALL '.join(parts))}{_by(row, ())}"
    where = (
        f" WHERE {met(planned.rule, row, f'total{planned.rule.statistic}')}"
        if isinstance(planned.rule, Threshold)
        else ""
    )
    if outer == [*row.keys] and not where:
        return source
    return f"SELECT {', '.join([*outer, *totals])} FROM {row.dialect.subquery(source)}{where}"
