"""Choose the statement that gives a measure's exact sums in the least time.

    one row per unit                    rows summed as DOUBLEs, without limits that no value passes
    a clip, and many rows in a table    sum everything, correct the few (corrected_sql.py)
    few rows in a table                 a statement that is planned in less time
    rows that are held (held_rows.py)   units summed one by one, where some are special
    all else                            measure_sql.py

All statements of a measure have the same result, number by number, so the choice is seen in time alone. It is
made by what the engine knows of this version of the private data: sizes, extremes and special units are read
when a paid measure first needs them, and are forgotten with the connection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from dpsql.engines.arithmetic import (
    DOUBLES,
    FEW,
    HALVES,
    SMALL,
    TIES,
    WHOLE,
    Arithmetic,
    fits,
    in_doubles,
    in_whole_numbers,
)
from dpsql.engines.corrected_sql import Special, corrected_sql, counts_units
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.extremes import Extremes
from dpsql.engines.held_rows import held
from dpsql.engines.measure_sql import CELL, measure_sql, summed_rows, sums_are_rows
from dpsql.engines.printed_once import PrintedOnce
from dpsql.engines.relation_sql import Reading
from dpsql.engines.repeated_units import RepeatedUnits
from dpsql.engines.row_cells import Ends, Row, rows_sql
from dpsql.engines.row_counts import RowCounts
from dpsql.engines.special_units import Limits, SpecialUnits
from dpsql.engines.special_units_sql import conditions_sql
from dpsql.engines.temporary_tables import InOwnInstance, TemporaryTables
from dpsql.engines.unit_totals import UnitTotals
from dpsql.errors import DatabaseError, was_interrupted
from dpsql.facts.columns_read import private_scans
from dpsql.facts.light_units import RowSource, row_sources
from dpsql.ir.not_shown import NotShown
from dpsql.ir.plan import MeasurePlan, Shape, Threshold
from dpsql.ir.statistic import Statistic
from dpsql.lazy_dataclass import dataclass


@dataclass(slots=True, repr=False)
class FastSums(NotShown):
    """The statements of one engine's measures. ``run`` runs a statement and fetches its rows.

    Nothing is found out of the tables that are ``left_out``: to read them takes longer than to sum them. Up
    to ``few`` rows, planning takes most of the time. ``plain`` prints the statements of small tables, and
    ``narrow`` says how another engine adds up what fits, and ``beyond`` what does not, of fewer rows than
    ``HALVES``.
    """

    run: Callable[[str], list[tuple[object, ...]]]
    limits: Limits = field(default_factory=Limits)
    left_out: frozenset[str] = frozenset()
    few: int = 10_000
    dialect: Dialect = DUCKDB
    tables: TemporaryTables | None = None
    plain: Callable[[MeasurePlan, bool, Dialect], str] | None = None
    narrow: Callable[[Dialect], Arithmetic] = in_doubles
    beyond: Callable[[Dialect], Arithmetic] = in_whole_numbers
    _tables: TemporaryTables = field(init=False)
    _counts: RowCounts = field(init=False)
    _units: SpecialUnits = field(init=False)
    _repeated: RepeatedUnits = field(init=False)
    _extremes: Extremes = field(init=False)
    _totals: UnitTotals = field(init=False)
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    _rounds: bool | None = None
    _holds: bool = False
    _texts: PrintedOnce = field(default_factory=PrintedOnce)

    def __post_init__(self) -> None:
        self._tables = tables = self.tables or InOwnInstance(self.run)
        self._extremes = Extremes(self.run, self.dialect)
        self._totals = UnitTotals(self.run, self._extremes, tables, self.dialect)
        self._counts = RowCounts(self.run, self.dialect)
        self._repeated = RepeatedUnits(self.run, self.limits, tables, self._counts, self.dialect)
        self._units = SpecialUnits(self.run, self.limits, tables, self._counts, self._totals, self.dialect)

    def statement(self, planned: MeasurePlan) -> str:
        """Return the SELECT of a measure's exact sums."""
        sources = self._sources(planned)
        if not sources or planned.bound[1] >= CELL:
            return self._of_few(planned)
        size = self._sizes_of(sources)
        rows = sum(self._size(each.scan.table) * each.fan for each in sources) if size else 0
        if size < self.limits.least:
            return self._of_few(planned, rows)
        if self._is_first(planned, sources, size):
            return measure_sql(planned, dialect=self.dialect, row=self._narrow_row(planned, rows))
        arithmetic, special = self._arithmetic(planned, rows), None
        if planned.shape is not Shape.ROWS:
            special = self._special(planned, sources, size, self.limits.most)
        if special is not None and self.limits.by_unit and _counts_private_groups(planned, special):
            special = None

        def printed() -> str:
            ends = self._ends(planned) if arithmetic.doubles else {}
            found = self._extremes.interval
            reading = Reading(found=found, dialect=self.dialect)
            if planned.shape is Shape.ROWS:
                return summed_rows(planned, rows_sql(planned, reading, arithmetic, ends, True))
            if special is None and self.dialect is DUCKDB:
                return measure_sql(planned)
            if special is None:
                row = rows_sql(planned, reading, arithmetic, ends)
                return measure_sql(planned, dialect=self.dialect, row=row)
            return corrected_sql(planned, special, arithmetic, ends, found)

        return self._text(planned, (arithmetic, special), printed)

    def special(self, planned: MeasurePlan) -> Special | None:
        """Return the rows of units that a clip might scale; None if the rows of each unit are read apart."""
        sources = self._sources(planned)
        size = self._sizes_of(sources) if planned.bound[1] < CELL else 0
        if not sources or size < max(1, self.limits.least) or self._is_first(planned, sources, size, "apart"):
            return None
        return self._special(planned, sources, size, self.limits.weighed)

    @contextmanager
    def held(self, planned: MeasurePlan) -> Iterator[None]:
        """Hold rows that several statements of a large measure read, which are printed meanwhile."""
        several = len(planned.details) + bool(planned.measure.statistics) > 1
        if not several or not self.is_large(planned):
            yield
            return
        readings = [Reading(units=units, found=self._extremes.interval) for units in (True, False)]
        try:
            with held(planned.measure.relation, readings, self._tables) as self._holds:
                yield
        finally:
            self._holds = False

    def _is_first(
        self, planned: MeasurePlan, sources: Sequence[RowSource], size: int, what: str = "sums"
    ) -> bool:
        """Note that tables are read; return whether it is for the first time, and little is known of them."""
        tables = {(each.scan.table, what) for each in sources}
        self._asked.update(tables)
        first = any(self._asked[table] <= self.limits.before for table in tables)
        return first and not (len(sources) == 1 and self._reads_most(planned, sources[0], size))

    def _special(
        self, planned: MeasurePlan, sources: Sequence[RowSource], size: int, part: float
    ) -> Special | None:
        """Return the rows that are read apart; None if they are more than this part of all.

        Of rows that are held, each unit is summed: its tables are not read again. So is each unit where there
        is no room for the tables of who is special.
        """
        try:
            if len(sources) > 1:
                special = self._units.of_several(planned, sources, size, part)
            else:
                special = self._of_one(planned, sources[0], size, part)
        except DatabaseError as error:  # if it is not for want of room, the next statement raises it again
            if was_interrupted(error):
                raise
            return None
        return None if self._holds and special is not None and special.units is not None else special

    def _of_one(self, planned: MeasurePlan, source: RowSource, size: int, part: float) -> Special | None:
        special = self._units.special(planned, source, size, part)
        if special is not None and sums_are_rows(planned, self.dialect):
            return replace(special, by_rows=True)
        return None if special is None else self._repeated.counted(planned, source, special)

    def _sources(self, planned: MeasurePlan) -> tuple[RowSource, ...]:
        """Return the tables whose rows are summed; other engines than DuckDB know of one."""
        sources = row_sources(planned.measure.uncopied)
        return sources if len(sources) == 1 or self.dialect is DUCKDB else ()

    def _of_few(self, planned: MeasurePlan, rows: int = 0) -> str:
        """Return the statement of a table of so few rows, or of sums that are too large to be told apart."""
        few = 0 < rows * planned.measure.copies <= self.few
        if self.plain is not None:
            return self.plain(planned, few, self.dialect)

        def printed() -> str:
            fit = few and self.dialect is DUCKDB and fits(rows * planned.measure.copies, _most(planned), CELL)
            row = rows_sql(planned, Reading(), FEW) if fit else None
            return measure_sql(planned, few, self.dialect, row)

        return self._text(planned, (few,), printed)

    def _text(self, planned: MeasurePlan, others: tuple[object, ...], printed: Callable[[], str]) -> str:
        """Return a text, printed once unless it reads what is held for this measure alone."""
        return printed() if self._holds else self._texts.text(planned, others, printed)

    def is_large(self, planned: MeasurePlan) -> bool:
        """Whether the measure's sums may take longer than it takes to open a second engine."""
        return self._sizes_of(self._sources(planned)) >= self.limits.least

    def many_groups(self, planned: MeasurePlan) -> bool:
        """Whether there may be many groups of which few are shown."""
        private = isinstance(planned.rule, Threshold) and planned.rule.listed is None
        if not private or not planned.measure.statistics:
            return False
        return self._sizes_of(self._sources(planned)) >= self.limits.least

    def forget(self) -> None:
        """Forget all that is known of the data: it is another version now."""
        self._units.forget()
        self._repeated.forget()
        self._totals.forget()
        self._extremes.forget()
        self._texts.forget()
        self._counts.forget()

    def _reads_most(self, planned: MeasurePlan, source: RowSource, size: int) -> bool:
        """Whether a first measure reads so many rows that it takes less to find out who is special first.

        A sum per unit and group of all these rows takes more time, and several times the memory; one per unit
        alone does not. Of several private tables the others may leave few rows.
        """
        by_group = planned.shape is Shape.CELLS and self.dialect is DUCKDB
        if not by_group or private_scans(planned.measure) > 1:
            return False
        met = self._counts.of(source.scan.table, conditions_sql(planned, source.scan))
        return met >= self.limits.unselective * size

    def _sizes_of(self, sources: Sequence[RowSource]) -> int:
        """Return the number of rows that are read of these tables, or 0 if one is left out."""
        tables = [each.scan.table for each in sources]
        return 0 if self.left_out.intersection(tables) else sum(map(self._size, tables))

    def _size(self, table: str) -> int:
        return 0 if table in self.left_out else self._counts.of(table)

    def _arithmetic(self, planned: MeasurePlan, rows: int) -> Arithmetic:
        most = _most(planned)
        rows *= planned.measure.copies
        if self.dialect is not DUCKDB:
            narrow = self.narrow(self.dialect)
            if not fits(rows, most, narrow.most):
                return (self.beyond if rows < HALVES else in_whole_numbers)(self.dialect)
            return replace(narrow, small=fits(rows, most, CELL))
        if not fits(rows, most):
            return WHOLE
        if self._rounds is None:
            self._rounds = self.run(TIES) == [(True,)]
        if not self._rounds:
            return WHOLE
        return SMALL if fits(rows, most, CELL) else DOUBLES

    def _narrow_row(self, planned: MeasurePlan, rows: int) -> Row | None:
        """Return rows that another engine adds up in 64 bits, where nothing else has to be found for them."""
        arithmetic = None if self.dialect is DUCKDB else self._arithmetic(planned, rows)
        if arithmetic is None or arithmetic.doubles:
            return None
        return rows_sql(planned, Reading(dialect=self.dialect), arithmetic)

    def _ends(self, planned: MeasurePlan) -> dict[Statistic, Ends]:
        """Return the ends of arguments, where known; without DOUBLEs, a product could be too large."""
        measure = planned.measure
        found = {each: self._extremes.of_argument(each, measure.relation) for each in measure.statistics}
        return {each: ends for each, ends in found.items() if ends is not None}


def _counts_private_groups(planned: MeasurePlan, special: Special) -> bool:
    """Whether rows are grouped by unit anyway, in groups that may be many, and some of them once more."""
    private = isinstance(planned.rule, Threshold) and planned.rule.listed is None
    return private and counts_units(planned) and special.units is not None and not special.by_rows


def _most(planned: MeasurePlan) -> int:
    """Return the most steps that a row adds."""
    return max(statistic.together for statistic in planned.measure.statistics)
