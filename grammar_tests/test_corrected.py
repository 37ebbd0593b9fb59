"""Errors planted in the statements for tables of many rows, or few: fixtures find each, number by number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from cases import all_cases
from worlds import Worlds

from dpsql.audit.oracles import ready_measures
from dpsql.engines import corrected_sql, repeated_units, row_cells, special_units
from dpsql.engines import measure_sql as statements
from dpsql.engines.corrected_sql import Special
from dpsql.engines.dialect import DUCKDB
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.exact_tables import measured
from dpsql.engines.extremes import Extremes
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.measure_sql import measure_sql
from dpsql.engines.row_cells import Row
from dpsql.engines.special_units import EVERYTHING, Limits, SpecialUnits
from dpsql.fuzz.judges import weights_shown
from dpsql.ir.column import Column
from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan, Norm, PublicKeys, Shape, Threshold

FOLDERS = ("aggregates", "bounds", "group_by", "joins", "per_unit")


def one_unit_short(patch: pytest.MonkeyPatch) -> None:
    found = special_units.found_sql
    patch.setattr(
        special_units,
        "found_sql",
        lambda *given: (
            f"WITH found AS ({found(*given)}) "
            "SELECT * FROM found WHERE u IS DISTINCT FROM (SELECT max(u) FROM found)"
        ),
    )


def rows_of_nobody(patch: pytest.MonkeyPatch) -> None:
    special = SpecialUnits.special

    def kept(self: SpecialUnits, *given: Any) -> Special | None:
        found = special(self, *given)
        return None if found is None else replace(found, nobody=None)

    patch.setattr(SpecialUnits, "special", kept)


def strays_unclamped(patch: pytest.MonkeyPatch) -> None:
    """Only where no value is NaN: a NaN would be seen at once."""
    patch.setattr(Extremes, "of_argument", lambda self, statistic, relation: (statistic.low, statistic.high))


def lists_after_norms(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(corrected_sql, "inside", lambda *given: [])


def values_without_their_offset(patch: pytest.MonkeyPatch) -> None:
    printed = row_cells.multiplied_sql
    patch.setattr(row_cells, "multiplied_sql", lambda each, *given: printed(replace(each, offset=0), *given))


PLANTED: tuple[Callable[[pytest.MonkeyPatch], None], ...] = (
    *(one_unit_short, rows_of_nobody, strays_unclamped, lists_after_norms),
    values_without_their_offset,
)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__.replace("_", " "))
def test_planted_errors_are_found(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    fast = FastSums(worlds.whole._all, EVERYTHING)
    assert any(differs(worlds, fast, each) for each in measures(worlds))


def few_without_lists(patch: pytest.MonkeyPatch) -> None:
    def without(print_: Callable[[MeasurePlan, Row, bool], str]) -> Callable[[MeasurePlan, Row, bool], str]:
        def printed(planned: MeasurePlan, row: Row, few: bool) -> str:
            with pytest.MonkeyPatch.context() as inner:
                if few:
                    inner.setattr(statements, "inside", lambda *given, **named: [])
                return print_(planned, row, few)

        return printed

    patch.setattr(statements, "_cells", without(statements._cells))


def few_unclipped(patch: pytest.MonkeyPatch) -> None:
    cells = statements._cells

    def unclipped(planned: MeasurePlan, row: Row, few: bool) -> str:
        return cells(planned, row, few).replace(" WHERE n > ", " WHERE NOT n > " if few else " WHERE n > ")

    patch.setattr(statements, "_cells", unclipped)


@pytest.mark.parametrize("plant", [few_without_lists, few_unclipped])
def test_planted_errors_of_few_rows_are_found(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """Where lists are checked before the clip; rows that are not clipped are in test_cases.py."""
    clipped = [each for each in measures(worlds) if each.shape is not Shape.ROWS]
    assert not any(differs(worlds, FastSums(worlds.whole._all), each) for each in clipped)
    plant(monkeypatch)
    assert any(differs(worlds, FastSums(worlds.whole._all), each) for each in clipped)


class Compared(NamedTuple):
    """What a text that is kept is compared by (engines/printed_once.py)."""

    measure: Measure
    keys: tuple[Column, ...]
    rule: object
    shape: Shape
    bound: tuple[Norm, int]
    groups: int | None


class ComparedThreshold(NamedTuple):
    statistic: int
    listed: PublicKeys | None


@pytest.mark.parametrize("limits", [EVERYTHING, Limits()], ids=["many", "few"])
def test_printing_reads_nothing_but_what_is_compared(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch, limits: Limits
) -> None:
    for module in (statements, corrected_sql, repeated_units):
        monkeypatch.setattr(module, "Threshold", (Threshold, ComparedThreshold))
    fast = FastSums(worlds.whole._all, limits)
    for each in measures(worlds, every=5):
        rule: object = each.rule
        if isinstance(rule, Threshold):
            rule = ComparedThreshold(rule.statistic, rule.listed)
        bare: Any = Compared(each.measure, each.keys, rule, each.shape, each.bound, each.groups)
        text = fast.statement(each)
        fast._texts.forget()
        assert fast.statement(bare) == text
        assert measure_sql(bare) == measure_sql(each)


@pytest.mark.sweep
@pytest.mark.parametrize("copied", [0, 1], ids=["by their links", "copied"])
def test_weights_of_bins_are_those_of_each_unit(worlds: Worlds, copied: float) -> None:
    """Each in both ways; in one of them it is in test_cases.py."""
    fast = FastSums(worlds.whole._all, replace(EVERYTHING, copied=copied, long=copied))
    found = [weights_differ(worlds, fast, each) for each in all_measures(worlds) if each.details]
    assert len(found) > 50
    assert not any(found)


def test_a_unit_whose_weight_is_not_scaled_is_found(worlds: Worlds, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error; others of weights are in tests/privacy/test_light_histograms.py."""
    one_unit_short(monkeypatch)
    fast = FastSums(worlds.whole._all, EVERYTHING)
    assert any(weights_differ(worlds, fast, each) for each in all_measures(worlds) if each.details)


def measures(worlds: Worlds, every: int = 1) -> Iterator[MeasurePlan]:
    return (each for each in all_measures(worlds, every) if each.measure.statistics)


def all_measures(worlds: Worlds, every: int = 1) -> Iterator[MeasurePlan]:
    cases = [case for case in all_cases() if case.outcome != "refused" and case.id.startswith(FOLDERS)]
    for case in cases[::every]:
        sealed = worlds.session("world", case).sealed
        yield from ready_measures(worlds.plan("world", case), worlds.whole, sealed)


def weights_differ(worlds: Worlds, fast: FastSums, planned: MeasurePlan) -> bool:
    return weights(worlds.whole, planned, fast.special) != weights(worlds.whole, planned)


def weights(
    engine: DuckDB, planned: MeasurePlan, special_of: Callable[[MeasurePlan], Special | None] | None = None
) -> list[dict[str, tuple[list[int], list[int]]]]:
    """Return the weights of each detail by group."""
    table = measured(planned, engine._all, engine._arrays, special_of=special_of)
    return [weights_shown(masses) for masses in table.details]


def differs(worlds: Worlds, fast: FastSums, planned: MeasurePlan) -> bool:
    sql, known = fast.statement(planned), measure_sql(planned)
    return sql != known and sums(worlds.whole, planned, sql) != sums(worlds.whole, planned, known)


def sums(engine: DuckDB, planned: MeasurePlan, sql: str) -> dict[str, tuple[object, ...]]:
    width = len(planned.keys)
    return {repr(row[:width]): row[width:] for row in engine._all(sql) if any(row[width:])}


def test_rows_that_are_alone_have_the_sums_of_their_groups(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors are planted in tests/privacy/test_lone_rows.py."""
    alone = [each for each in measures(worlds) if statements.sums_are_rows(each, DUCKDB)]
    assert len(alone) > 10
    fast = FastSums(worlds.whole._all, EVERYTHING)
    found = [
        sums(worlds.whole, each, print_(each)) for each in alone for print_ in (measure_sql, fast.statement)
    ]
    monkeypatch.setattr(statements, "are_alone", lambda measure: False)
    grouped = [sums(worlds.whole, each, measure_sql(each)) for each in alone]
    assert found == [each for each in grouped for _ in range(2)]
