"""Totals of each unit over a whole table: whether they show that no unit's sums reach the clip.

    SUM(extendedprice * (1 - discount)) ... WHERE shipdate ...    clipped to 100 rows of 105,000
    every customer's total of extendedprice is below 10,500,000: nobody is special, whatever the condition

Claim   where ``all_light`` is true, every unit's norm over the relation is at most the clip.
Proof   Of a family, a unit adds at most the sum of its cells' absolute values in L1, so in L2 too; families
        are on coordinates of their own, so squared L2 norms add up. A row adds to one alternative of a
        family: one bound serves all that have it. Conditions leave rows out, and a row of the table makes at
        most ``fan`` rows. A value of at most m x, 0 <= x, has a cell of at most (m x + max(low, 0)) / step,
        since its range has 0 or is above, and of half a step and half a ``unit`` for its rounding: the sum is
        at most m / step times the total of x, and (low + unit) / step times the number of rows; so for sums
        of such bounds. Any other cells are at most ``most`` for each row; a unit is counted at most once for
        each row, in groups of its own. Totals are sums of at most 2^40 DOUBLEs of one sign, off by less than
        2^-12 of themselves: ``MARGIN`` covers this and the arithmetic here. No product overflows or vanishes,
        which fails on PostgreSQL: totals and multiples are between 1 / ``_LARGEST``, which is more than any
        that is below, and ``_LARGEST`` for each row.
Test    tests/privacy/test_light_units.py

Totals are exact private facts: see special_units.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.extremes import Extremes
from dpsql.engines.identifiers import quote
from dpsql.engines.number_sql import added_sql
from dpsql.engines.relation_sql import Place, first_link, place_of, with_units
from dpsql.engines.temporary_tables import TemporaryTables, dropped_if_stopped
from dpsql.engines.unit_values import there_sql, value_sql
from dpsql.facts.columns_read import defined, stored_column
from dpsql.facts.light_units import RowSource
from dpsql.ir.measure import Measure
from dpsql.ir.not_shown import NotShown
from dpsql.ir.plan import MeasurePlan, Norm
from dpsql.ir.relation import Relation, Scan
from dpsql.ir.scalar import Call, Ref, Scalar
from dpsql.ir.statistic import Part, Statistic
from dpsql.lazy_dataclass import dataclass

MARGIN = 1.001

ANSWERS = 1_000
"""The most answers about one table of units that are kept."""

_LARGEST = 1e50
"""The largest value, or multiple of one in steps, whose products with others are added up."""

_Multiples = dict[str, float]


@dataclass(frozen=True, slots=True, repr=False)
class _Totals(NotShown):
    name: str
    columns: tuple[str, ...]
    nobody: bool
    light: dict[str, bool] = field(default_factory=dict)  # conditions, and whether all units meet them


@dataclass(slots=True, repr=False)
class UnitTotals(NotShown):
    """The totals of one engine's units. ``run`` runs a statement and fetches its rows."""

    run: Callable[[str], list[tuple[object, ...]]]
    extremes: Extremes
    tables: TemporaryTables
    dialect: Dialect = DUCKDB
    _tables: dict[Place, _Totals] = field(default_factory=dict)

    def all_light(self, planned: MeasurePlan, source: RowSource) -> bool:
        """Whether totals show that nobody's sums are clipped, and that all rows belong to somebody."""
        if planned.groups is not None:
            return False
        alone = _alone(planned.measure)
        read = {each: self._read(each, planned, source.scan) for each in alone}
        columns = {column for found in read.values() if found is not None for column in found}
        if not columns:
            return False
        totals = self._totals(source.scan, columns)
        if totals.nobody:
            return False
        norm, clip = planned.bound
        families = [
            added_sql(
                list(
                    dict.fromkeys(
                        self._most(first, read.get(first), source.fan)
                        for first in (planned.measure.statistics[places[0]] for places in family.alternatives)
                    )
                )
            )
            for family in planned.measure.families
        ]
        bound = added_sql([f"({each})" if norm is Norm.L1 else f"({each}) * ({each})" for each in families])
        limit = clip if norm is Norm.L1 else clip**2
        number = self.dialect.number
        light = f"{number(MARGIN * planned.measure.copies)} * ({bound}) <= {number(limit)}"
        if light not in totals.light:
            heavy = self.run(f"SELECT 1 FROM {totals.name} AS f WHERE ({light}) IS NOT TRUE LIMIT 1")
            if len(totals.light) == ANSWERS:
                totals.light.clear()
            totals.light[light] = heavy == []
        return totals.light[light]

    def counted(self, scan: Scan) -> str | None:
        """Return the table of the units u of a scan with their rows c, if there is one."""
        known = self._tables.get(place_of(scan))
        return None if known is None else known.name

    def forget(self) -> None:
        """Drop all tables."""
        while self._tables:
            self.tables.drop(self._tables.popitem()[1].name)

    def _most(self, first: Statistic, read: _Multiples | None, fan: int) -> str:
        """Print the most that a unit's rows add to a statistic and those that complete it."""
        number = self.dialect.number
        if read is None or max(read.values()) > _LARGEST * float(first.step):
            return f"{number(fan * first.together)} * c"
        totals = (
            f"{number(max(times / float(first.step), 1 / _LARGEST))} * {quote('s ' + column)}"
            for column, times in sorted(read.items())
        )
        of_row = float((max(0, first.low) + first.unit) / first.step)
        return f"{number(fan)} * ({' + '.join(totals)} + {number(of_row)} * c)"

    def _read(self, statistic: Statistic, planned: MeasurePlan, scan: Scan) -> _Multiples | None:
        """Return what bounds the values of a statistic in a range not below 0."""
        if statistic.part is not Part.VALUE or statistic.argument is None:
            return None
        if statistic.offset != 0 or statistic.high < 0:
            return None
        return self._multiples(statistic.argument, planned.measure.relation, scan)

    def _multiples(self, scalar: Scalar, relation: Relation, scan: Scan) -> _Multiples | None:
        """Return columns and numbers: no |scalar| is above the sum of their products.

        No column has a value below 0, or a very large one.
        """
        match scalar:
            case Ref(name):
                below = defined(relation, name)
                if below is not None:
                    return self._multiples(below[1], below[0], scan)
                found, ends = stored_column(relation, name), self.extremes.ends(scalar, relation)
                if found is None or found[0] is not scan or ends is None:
                    return None
                return {found[1].source: 1.0} if 0 <= ends[0] <= ends[1] <= _LARGEST else None
            case Call("*", (first, second)) if self.extremes.ends(scalar, relation) is not None:
                for near, far in ((first, second), (second, first)):
                    of_near, ends = self._multiples(near, relation, scan), self.extremes.ends(far, relation)
                    if of_near is not None and ends is not None:
                        most = max(map(abs, ends))
                        return {column: times * most for column, times in of_near.items()}
                return None
            case Call("+" | "-", (first, second)) if self.extremes.ends(scalar, relation) is not None:
                ours, theirs = (self._multiples(each, relation, scan) for each in (first, second))
                if ours is None or theirs is None:
                    return None
                return {each: ours.get(each, 0) + theirs.get(each, 0) for each in {**ours, **theirs}}
            case _:
                return None

    def _totals(self, scan: Scan, columns: set[str]) -> _Totals:
        place = place_of(scan)
        known = self._tables.get(place)
        if known is not None and columns <= set(known.columns):
            return known
        if known is not None:
            columns = columns | set(known.columns)
            self.tables.drop(self._tables.pop(place).name)
        listed = tuple(sorted(columns))
        name = self.tables.kept(totals_sql(scan, listed, self.dialect))
        with dropped_if_stopped(self.tables, name):
            nobody = self.run(f"SELECT 1 FROM {name} AS f WHERE u IS NULL LIMIT 1") != []
        self._tables[place] = _Totals(name, listed, nobody)
        return self._tables[place]


def totals_sql(scan: Scan, columns: tuple[str, ...], dialect: Dialect = DUCKDB) -> str:
    """Return the SELECT of units, or NULL for nobody, with their rows and the totals of columns."""
    assert scan.owner is not None
    link, names = first_link(scan), [quote(f"s {column}") for column in columns]
    least = dialect.number(1 / _LARGEST)
    sums = "".join(f", greatest(coalesce(sum({name}), {least}), {least}) AS {name}" for name in names)
    doubles = (dialect.double(f"t.{quote(column)}") for column in columns)
    read = "".join(f", {double} AS {name}" for double, name in zip(doubles, names, strict=True))
    unit = "u" if not scan.owner.links else "k"
    owned = f"SELECT {value_sql(link, 't')} AS {unit}{read} FROM {dialect.table(scan.table)} AS t"
    owned += f" WHERE {there_sql(link, 't')}"
    if scan.owner.links:
        joined, found = with_units(f"({owned})", scan, dialect)
        owned = f"SELECT {', '.join([f'{found} AS u', *(f'r.{name}' for name in names)])} FROM {joined}"
    return f"SELECT u, count(*) AS c{sums} FROM {dialect.subquery(owned)} GROUP BY u"


def _alone(measure: Measure) -> list[Statistic]:
    """Return the statistics that are alone in each of their alternatives."""
    alternatives = [places for family in measure.families for places in family.alternatives]
    others = {measure.statistics[place] for places in alternatives if len(places) > 1 for place in places}
    return [each for each in dict.fromkeys(measure.statistics) if each not in others]
