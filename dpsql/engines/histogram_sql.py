"""Weighted histograms as SQL: for each group, the bins of its rows with their clipped weights.

    few bins     SELECT ward, list(bin), list(w) FROM (SELECT ward, bin, sum(w) AS w ... GROUP BY ward, bin)
    many bins    SELECT ward, list(w * 2^17 + bin) FROM (... clamp(age) - 0 AS bin ...) GROUP BY ward

Each of the m rows of a unit has the weight least(1, M / m), in whole steps; m counts exactly the rows that
have a bin, over all groups. If a unit is proved to have at most M rows, rows are simply counted. Up to
``CELLS`` bins of public groups the engine adds weights up, which takes half the time or less. Of more, or of
groups whose number is private, it returns lists of rows, as DuckDB's MEDIAN keeps them, too.

Of large tables all rows are counted, and the rows of special units are weighed apart:

    A    the full weight                      all rows; no unit is read, and no path to it
    B    their own weight less the full       rows of units with more than M rows
    C    less the full weight                 rows of nobody

Claim   A + B + C are the weights of each unit's rows, number by number.
Proof   COUNT(x), clipped to M rows, counts the same rows (``_counting``): a unit that is not special for it
        has at most M rows with a bin (facts/light_units.py), each of full weight. All rows of a special unit
        are read in B, where m counts them over all groups, those on no list too. C is what A has of nobody.
        Whole numbers are added up, in the groups that SQL tells apart. See corrected_sql.py.
Test    tests/privacy/test_light_histograms.py, grammar_tests/test_corrected.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from dpsql.detail_kinds import Apart, Arrays, Group, Reads, Rows
from dpsql.engines.corrected_sql import Special
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import TEXTED, quote
from dpsql.engines.measure_sql import inside, inside_groups, read_twice
from dpsql.engines.relation_sql import Reading, key_sql, relation_sql, scalar_sql
from dpsql.engines.row_copies import decoded_sql
from dpsql.facts.lent_units import reads_units
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.column import BIGINT, Kind, Type, Value
from dpsql.ir.detail import Detail
from dpsql.ir.grid import MOST_BINS
from dpsql.ir.not_shown import NotShown
from dpsql.ir.plan import DetailPlan, MeasurePlan, Norm, PublicKeys, Shape
from dpsql.ir.scalar import Scalar
from dpsql.ir.statistic import Family, Part, Statistic
from dpsql.ir.table import Mass, Masses
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Integers: TypeAlias = "NDArray[np.int64]"

CELLS = 2**18
"""Bins of all public groups up to which the engine adds up their weights."""

_SHIFT = MOST_BINS.bit_length() - 1
_MOST = 2**62  # what a bin may weigh: no rows reach it


@dataclass(frozen=True, slots=True)
class Binned:
    """What is counted: the ``place`` of an argument x among ``bins``, where the condition c holds.

    ``place`` is the SQL of the bin of x, an INTEGER.
    """

    argument: Scalar
    condition: Scalar | None
    place: str
    bins: int


def histogram_reads(
    planned: MeasurePlan, detail_plan: DetailPlan[Detail], binned: Binned, dialect: Dialect = DUCKDB
) -> Reads:
    """Return a SELECT of the weighted bins of each group.

    In DuckDB it has a row for each group: its keys, and lists of bins and of their weights, or one with the
    bin and weight of each of its rows, packed into one number. Elsewhere it has a row for each bin of a
    group: its keys, the bin, its weight.
    """
    printed = _Histogram(planned, detail_plan, binned, dialect)
    owned = ownership_of(planned.measure.relation)
    assert isinstance(owned, Owned)
    proved = owned.at_most is not None and owned.at_most <= detail_plan.rows
    if dialect is not DUCKDB:
        return Reads(rows=(printed.by_bins(proved),))
    if proved:
        return Reads((printed.counted(AS_UNITS),))
    counting = _counting(planned, detail_plan, binned)
    units = reads_units(counting.measure)
    return Reads((printed.weighed(),), apart=Apart(counting, partial(printed.corrected, units)))


AS_UNITS = Reading()
"""The rows of units alone."""


def _counting(planned: MeasurePlan, detail_plan: DetailPlan[Detail], binned: Binned) -> MeasurePlan:
    """Return the measure of COUNT(x), clipped in L1 to the rows that have the full weight."""
    counted = Statistic(Part.ROWS, binned.argument, binned.condition, Fraction(1), 1)
    families = (Family(((0,),), 1),)
    return replace(
        planned,
        measure=replace(planned.measure, statistics=(counted,), families=families, details=()),
        shape=Shape.L1,
        noise=replace(planned.noise, norm=Norm.L1, sensitivity=detail_plan.rows),
        groups=None,
        details=(),
        runs=None,
        applied=None,
        joint=None,
    )


@dataclass(frozen=True, slots=True)
class _Histogram:
    planned: MeasurePlan
    detail_plan: DetailPlan[Detail]
    binned: Binned
    dialect: Dialect

    @property
    def keys(self) -> list[str]:
        return [f"k{i}" for i in range(len(self.planned.keys))]

    @property
    def full(self) -> int:
        """The weight of a row of a unit that has M rows or fewer."""
        return self.detail_plan.sensitivity // self.detail_plan.rows

    def weighed(self) -> str:
        """Print the weights of each unit's rows."""
        with_, source = self._with_weights(self._rows(AS_UNITS, ["u"]))
        return f"{with_} {self._listed(self._weights('h.w', source))}"

    def counted(self, reading: Reading) -> str:
        """Print the full weight of all rows."""
        rows = f"({self._rows(reading)})"
        if self._is_added_up():
            return self._listed(self._weights(self.full, rows))
        return f"SELECT {', '.join([*self._shown(), 'list(b) AS places'])} FROM {rows}{self._tail()}"

    def corrected(self, units: bool, special: Special) -> Reads:
        """Print the full weight of all rows, less what is too much; ``units`` says whether they are read."""
        too_much = [] if special.units is None else [self._of_special(special.units, special.codes)]
        if special.nobody is not None and not units:
            too_much.append(self._weights(-self.full, f"({self._rows(special.nobody)})"))
        if not too_much:
            return Reads((self.counted(Reading(units=units)),))
        everything = self._weights(self.full, f"({self._rows(Reading(units=units))})")
        weights = " UNION ALL ".join(f"SELECT * FROM ({each})" for each in (everything, *too_much))
        if self._is_added_up():
            weights = self._sums("sum(w)", f"({weights})")
        return Reads((self._listed(weights),))

    def _of_special(self, reading: Reading, codes: Mapping[int, tuple[str, ...]]) -> str:
        apart, once = reading.read_once()
        with_, source = self._with_weights(self._rows(apart, ["u"]), once, heavy=True)
        conditions = inside(self.planned, self.keys, codes)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        values = [
            f"{decoded_sql(key, codes[place])} AS {key}" if place in codes else key
            for place, key in enumerate(self.keys)
        ]
        weights = self._weights(f"h.w - {self.full}", f"{source}{where}")
        return f"SELECT {', '.join([*values, 'b', 'w'])} FROM ({with_} {weights})"

    def by_bins(self, proved: bool) -> str:
        """Print a row for each bin of a group, of the rows of units."""
        below, with_ = self.dialect.subquery, ""
        rows = self._rows(replace(AS_UNITS, dialect=self.dialect), [] if proved else ["u"])
        source, weight = below(rows), f"count(*) * {self.dialect.wide(str(self.full))}"
        if not proved:
            with_, source = self._with_weights(rows)
            weight = f"sum({self.dialect.wide('h.w')})"
        totals = below(f"{self._sums(weight, source)}{self._having()}")
        keys = zip(self.keys, self.planned.keys, strict=True)
        shown = [self.dialect.carried(key, column.fact.type) for key, column in keys]
        return f"{with_} SELECT {', '.join([*shown, 'b', 'w'])} FROM {totals}"

    def _rows(self, reading: Reading, unit: Sequence[str] = ()) -> str:
        """Print the keys of rows that have a bin b, and their unit u if it is asked for."""
        m, binned, place = self.planned.measure, self.binned, self.binned.place
        owned = ownership_of(m.relation)
        assert isinstance(owned, Owned)
        columns = [f"{quote(owned.unit)} AS {u}" for u in unit]
        columns += [
            f"{key_sql(key.scalar, m.relation, self.dialect)} AS {name}"
            for key, name in zip(m.keys, self.keys, strict=True)
        ]
        columns.append(f"{scalar_sql(binned.argument, m.relation, reading)} AS x")
        if binned.condition is not None:
            columns.append(f"{scalar_sql(binned.condition, m.relation, reading)} AS c")
            place = f"CASE WHEN c THEN {place} END"
        below = self.dialect.subquery
        rows = f"SELECT {', '.join(columns)} FROM {below(relation_sql(m.relation, reading))}"
        inner = ", ".join([*unit, *self.keys, f"{place} AS b"])
        return f"SELECT * FROM {below(f'SELECT {inner} FROM {below(rows)}')} WHERE b IS NOT NULL"

    def _with_weights(self, rows: str, once: Sequence[str] = (), heavy: bool = False) -> tuple[str, str]:
        """Print CTEs of rows r and of the weights h of their units, or of ``heavy`` ones, and their join."""
        plan = self.detail_plan
        many, less = f"count(*) > {plan.rows}", self.dialect.quotient(str(plan.sensitivity), "count(*)")
        weight, having = f"CASE WHEN {many} THEN {less} ELSE {self.full} END", ""
        if heavy:
            weight, having = less, f" HAVING {many}"
        weights = f"SELECT u, CAST({weight} AS {self.dialect.type(BIGINT)}) AS w FROM r GROUP BY u{having}"
        ctes = [*once, read_twice(self.planned, rows, dialect=self.dialect), f"h AS ({weights})"]
        return f"WITH {', '.join(ctes)}", "r JOIN h ON r.u = h.u"

    def _sums(self, weight: str, source: str) -> str:
        """Print the weight of each bin of a group."""
        by = ", ".join([*self.keys, "b"])
        return f"SELECT {by}, {weight} AS w FROM {source} GROUP BY {by}"

    def _weights(self, weight: str | int, source: str) -> str:
        """Print the weight of each row, or their sum in each bin of a group."""
        if self._is_added_up():
            total = f"count(*) * {weight}::HUGEINT" if isinstance(weight, int) else f"sum({weight})"
            return self._sums(total, source)
        return f"SELECT {', '.join([*self.keys, 'b'])}, CAST({weight} AS BIGINT) AS w FROM {source}"

    def _listed(self, weights: str) -> str:
        """Print the bins of each group, and their weights, as lists."""
        lists = [f"list(CAST(w * {MOST_BINS} + b AS BIGINT)) AS places"]
        if self._is_added_up():
            lists = ["list(b) AS places", f"list(CAST(least(w, {_MOST}::HUGEINT) AS BIGINT)) AS weights"]
        return f"SELECT {', '.join([*self._shown(), *lists])} FROM ({weights}){self._tail()}"

    def _shown(self) -> list[str]:
        return [
            _fetchable(column.fact.type, key)
            for column, key in zip(self.planned.keys, self.keys, strict=True)
        ]

    def _tail(self) -> str:
        return f" GROUP BY {', '.join(self.keys)}{self._having()}" if self.keys else self._having()

    def _having(self) -> str:
        conditions = inside_groups(self.planned, self.keys, dialect=self.dialect)
        return f" HAVING {' AND '.join(conditions)}" if conditions else ""

    def _is_added_up(self) -> bool:
        """Whether the engine adds up weights by bins: there are few of them, and that is public."""
        rule = self.planned.rule
        return isinstance(rule, PublicKeys) and math.prod(map(len, rule.domains)) * self.binned.bins <= CELLS


def _fetchable(key: Type, name: str) -> str:
    """Print a key in a form that the driver returns in an array without loss: text if necessary."""
    return f"CAST({name} AS VARCHAR) AS {name}" if _as_text(key) else name


def _as_text(key: Type) -> bool:
    return key.kind in TEXTED or key.kind in (Kind.TEXT, Kind.DECIMAL) or key.sql in ("HUGEINT", "UHUGEINT")


def histogram(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Detail],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """Return the bins with weight of every group, and their weights."""
    if rows:
        return _of_bins(planned, rows[0], group)
    [fetched] = arrays
    return _Listed(planned, detail_plan.sensitivity // detail_plan.rows, fetched, group)


def _of_bins(planned: MeasurePlan, rows: Rows, group: Group) -> Masses:
    found: dict[tuple[Value, ...], list[tuple[int, int]]] = {}
    for row in rows:
        place, weight = row[len(planned.keys) :]
        assert isinstance(place, int)
        assert isinstance(weight, int)
        if weight:
            found.setdefault(group(row), []).append((place, weight))
    tables = ((keys, np.array(sorted(bins), dtype=np.int64)) for keys, bins in found.items())
    return {keys: (table[:, 0], table[:, 1]) for keys, table in tables}


class _Listed(NotShown, Mapping[tuple[Value, ...], Mass]):
    """The weights of each group, computed when it is taken: of many groups few are shown, or none."""

    __slots__ = ("_bins", "_fetched", "_found", "_full", "_group", "_planned", "_weights")

    def __init__(self, planned: MeasurePlan, full: int, fetched: Arrays, group: Group) -> None:
        self._full, self._bins = full, np.ma.getdata(fetched["places"])
        self._weights = np.ma.getdata(fetched["weights"]) if "weights" in fetched else None
        self._planned, self._fetched, self._group = planned, fetched, group
        self._found: dict[tuple[Value, ...], int] | None = None

    @property
    def _rows(self) -> dict[tuple[Value, ...], int]:
        """The row of each group: of hundreds of thousands this takes as long as the SELECT."""
        if self._found is None:
            keyed = enumerate(self._planned.keys)
            keys = [_values(self._fetched[f"k{i}"], column.fact.type) for i, column in keyed]
            missing = np.ma.getmaskarray(self._fetched["places"])  # without keys no rows are a row, too
            groups = [*map(self._group, zip(*keys, strict=True))] if keys else [()] * len(missing)
            self._found = {key: row for row, key in enumerate(groups) if not missing[row]}
        return self._found

    def __getitem__(self, key: tuple[Value, ...]) -> Mass:
        row = self._rows[key]
        bins = np.ma.getdata(self._bins[row])
        if self._weights is None:
            return _weights_of_bins(bins, self._full)
        order, weights = np.argsort(bins), np.ma.getdata(self._weights[row])
        order = order[weights[order] != 0]
        return bins[order].astype(np.int64), weights[order]

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _values(fetched: NDArray[Any], key: Type) -> list[object]:
    """Convert fetched keys to Python values; masked keys are NULL."""
    values: list[object] = [
        None if hidden else value
        for value, hidden in zip(np.ma.getdata(fetched).tolist(), np.ma.getmaskarray(fetched), strict=True)
    ]
    if not _as_text(key) or key.kind not in (Kind.DECIMAL, Kind.INTEGER):
        return values
    read = Decimal if key.kind is Kind.DECIMAL else int
    return [None if value is None else read(str(value)) for value in values]


def _weights_of_bins(places: Integers, full: int) -> tuple[Integers, Integers]:
    """Return the distinct bins of a group's rows and their total weights.

    A row weighs ``full`` if the list holds bins without weights.
    """
    weightless = places.dtype == np.int32
    bins = places if weightless else places & (MOST_BINS - 1)
    if len(bins) < MOST_BINS // 16:
        present, bins = np.unique(bins, return_inverse=True)
    else:
        present = np.arange(int(bins.max()) + 1)
    if weightless:
        totals = np.bincount(bins, minlength=len(present)) * full
    else:  # sums of floats are exact below 2^53, which the number of rows does not reach
        totals = np.bincount(bins, places >> _SHIFT, len(present)).astype(np.int64)
    filled = np.flatnonzero(totals)
    return present[filled].astype(np.int64), totals[filled].astype(np.int64)
