"""Totals of each unit over a whole table: whether they show that a unit's sums do not reach the clip.

    SUM(extendedprice * (1 - discount)) ... WHERE shipdate ...    clipped to 100 rows of 105,000
    every customer's total of extendedprice is below 10,500,000: nobody is special, whatever the condition

    AVG(extendedprice)    sums of price - 900 and of 105,000 - price, clipped to 100 rows of 104,100 in L2
    a customer with 130 lines of 50,000 each is light: both sums are below 73 rows of 104,100

Claim   a unit that meets the condition of ``all_light`` or ``light`` has a norm over the relation of at most
        the clip.
Proof   Of a family, a unit adds at most the sum of its cells' absolute values in L1, so in L2 too; families
        are on coordinates of their own, so squared L2 norms add up. A row adds to one alternative of a
        family: one bound serves all that have it. Conditions leave rows out, and a row of the table makes at
        most ``fan`` rows. A value of at most m x, 0 <= x, has a cell of at most (m x + max(low, 0)) / step,
        since its range has 0 or is above, and of half a step and half a ``unit`` for its rounding: the sum is
        at most m / step times the total of x, and (low + unit) / step times the number of rows; so for sums
        of such bounds. Any other cells are at most ``most`` for each row; a unit is counted at most once for
        each row, in groups of its own.
        A pair is of VALUE and REST. Neither has a cell below 0, so that the squares of its sums, in all
        groups and alternatives, come to the square of its sum over all of them at most: one bound serves
        all alternatives that have it, here too. Where all values of the column x are in the pair's range,
        no cell is off by more than ``unit`` / step. VALUE adds up to (total - offset rows) / step at most,
        of the rows that are not NULL: these are all rows, or the offset is not above 0, so that more rows
        only add to it, or it is left out. REST adds up to (most + offset / step) rows - total / step, whose
        factor of the rows is the range's end in steps, not below 0: so it may count rows of NULL.
        ``MARGIN`` is on each total by itself there, since what is taken away would not cover it.
        Totals are sums of at most 2^40 DOUBLEs of one sign, off by less than 2^-12 of themselves:
        ``MARGIN`` covers this and the arithmetic here. No product overflows or vanishes, which fails on
        PostgreSQL: totals and multiples are between 1 / ``_LARGEST``, which is more than any that is below,
        and ``_LARGEST`` for each row. The total of a pair is taken away, so none there may be more than it
        is: its multiple is between these ends, or the pair is told by its rows.
Test    tests/privacy/test_light_units.py

Totals are exact private facts: see special_units.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import NamedTuple

from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.extremes import Extremes
from dpsql.engines.identifiers import quote
from dpsql.engines.number_sql import added_sql
from dpsql.engines.relation_sql import Place, first_link, place_of, with_units
from dpsql.engines.temporary_tables import TemporaryTables, dropped_if_stopped
from dpsql.engines.unit_values import there_sql, value_sql
from dpsql.facts.columns_read import defined, stored_column
from dpsql.facts.light_units import RowSource, most_rows
from dpsql.ir.measure import Measure
from dpsql.ir.not_shown import NotShown
from dpsql.ir.plan import MeasurePlan, Norm
from dpsql.ir.relation import Relation, Scan, ScanColumn
from dpsql.ir.scalar import Call, Ref, Scalar
from dpsql.ir.statistic import Part, Statistic
from dpsql.lazy_dataclass import dataclass

MARGIN = 1.001

ANSWERS = 1_000
"""The most answers about one table of units that are kept."""

_LARGEST = 1e50
"""The largest value, or multiple of one in steps, whose products with others are added up."""

_Multiples = dict[str, float]


class Light(NamedTuple):
    """A condition on a unit's totals under which it is light, and the columns that are totalled."""

    columns: frozenset[str]
    sql: str

    @property
    def unless(self) -> str:
        return f"({self.sql}) IS NOT TRUE"

    def __repr__(self) -> str:
        return "Light(not shown)"


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
        light = self._condition(planned, source, pairs=False)
        if light is None:
            return False
        totals = self._totals(source.scan, light.columns)
        if totals.nobody:
            return False
        if light.sql not in totals.light:
            heavy = self.run(f"SELECT 1 FROM {totals.name} AS f WHERE {light.unless} LIMIT 1")
            if len(totals.light) == ANSWERS:
                totals.light.clear()
            totals.light[light.sql] = heavy == []
        return totals.light[light.sql]

    def light(self, planned: MeasurePlan, source: RowSource) -> Light | None:
        """Return the condition under which totals show that a unit is light, of its rows too; or None."""
        light = self._condition(planned, source, pairs=True)
        if light is None:
            return None
        few = f"c <= {most_rows(planned) // source.fan}"
        return light._replace(sql=f"{few} OR {light.sql}")

    def heavy_sql(self, scan: Scan, light: Light) -> str:
        """Return the SELECT of other units u, of nobody as NULL, with their rows c, and 1 as n of units."""
        totals = self._totals(scan, light.columns)
        one = "CASE WHEN u IS NOT NULL THEN 1 END"
        return f"SELECT u, {one} AS n, c FROM {totals.name} AS f WHERE {light.unless} OR u IS NULL"

    def _condition(self, planned: MeasurePlan, source: RowSource, pairs: bool) -> Light | None:
        """Return the condition, of ``pairs`` too; None if it would be that of rows, or says too little."""
        if planned.groups is not None:
            return None
        measure, (norm, clip) = planned.measure, planned.bound
        alone = _alone(measure)
        read = {each: self._read(each, planned, source.scan) for each in alone}
        columns = {column for found in read.values() if found is not None for column in found}
        families = []
        for family in measure.families:
            sums: dict[str, None] = {}
            squares: dict[str, None] = {}
            for places in family.alternatives:
                first = measure.statistics[places[0]]
                pair = [measure.statistics[place] for place in places]
                column = self._paired(pair, planned, source.scan) if pairs and norm is Norm.L2 else None
                if column is None:
                    sums[self._most(first, read.get(first), source.fan)] = None
                else:
                    columns.add(column.source)
                    both = self._most_of_pair(first, column, source.fan)
                    squares[added_sql([f"({each}) * ({each})" for each in both])] = None
            added = added_sql(list(sums))
            if norm is Norm.L1:
                families.append(f"({added})")
            else:
                squared = [f"({added}) * ({added})"] if sums else []
                families.append(added_sql([*squared, *squares]))
        if not columns:
            return None
        number = self.dialect.number
        limit = clip if norm is Norm.L1 else clip**2
        bound = f"{number(MARGIN * measure.copies)} * ({added_sql(families)}) <= {number(limit)}"
        return Light(frozenset(columns), bound)

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

    def _paired(self, pair: Sequence[Statistic], planned: MeasurePlan, scan: Scan) -> ScanColumn | None:
        """Return the column of a pair, where all of its values are in the pair's range, and none below 0."""
        first, argument = pair[0], pair[0].argument
        if {each.part for each in pair} != {Part.VALUE, Part.REST} or not isinstance(argument, Ref):
            return None
        relation = planned.measure.relation
        found, ends = stored_column(relation, argument.name), self.extremes.ends(argument, relation)
        if found is None or found[0] is not scan or ends is None:
            return None
        in_range = max(0, first.low) <= ends[0] and ends[1] <= min(first.high, _LARGEST)
        return found[1] if in_range and 1 / _LARGEST <= first.step <= _LARGEST else None

    def _most_of_pair(self, first: Statistic, column: ScanColumn, fan: int) -> tuple[str, str]:
        """Print the most that a unit's rows add to VALUE and to REST."""
        number, total = self.dialect.number, quote(f"s {column.source}")
        step, offset = float(first.step), float(first.offset)
        off = float(first.unit) / step
        less = offset / step if offset <= 0 or not column.fact.nullable else 0.0
        value = f"{number(MARGIN / step)} * {total} + {number(off - less)} * c"
        rest = f"{number(first.most + offset / step + off)} * c - {number(1 / MARGIN / step)} * {total}"
        return f"{number(fan)} * ({value})", f"{number(fan)} * ({rest})"

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

    def _totals(self, scan: Scan, columns: frozenset[str]) -> _Totals:
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
