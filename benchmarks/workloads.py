"""How much more exact are related questions that are answered together?

Files of statements, CUBE, ROLLUP and all ranges, with Laplace noise (``pure``) and Gaussian noise (``zcdp``).
Numbers are root mean squared errors over the statements, whose numbers share their weight:

    apart      each statement alone at an equal share of the price; each grouping set of one statement too
    cells      the disjoint cells measured alone, the answers being their sums
    together   as the chosen strategy expects, beside draws of noise through the whole way: A x in whole
               numbers, the engine's noise, least squares; ``made whole`` with cells rounded at the end
    bound      no matrix has less, for Gaussian noise

The file costs 2 in all, on 20,000 patients. CUBE, ROLLUP and the view are in deviations of a count that is
asked alone, ranges in 1/epsilon (Laplace) or in such deviations (Gaussian).
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Report, Runs, Setting, Table, Verdict, alternate
from dpsql.accounting import Budget
from dpsql.accounting.zcdp import Zcdp
from dpsql.ir.plan import Norm
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.strategies import gaussian, gram, laplace
from dpsql.mechanisms.strategies.cache import StrategyCache
from dpsql.mechanisms.strategies.design import relative_error
from dpsql.mechanisms.strategies.integers import along_axes
from dpsql.mechanisms.strategies.kronecker import Product, whole_numbered_product
from dpsql.mechanisms.strategies.whole_cells import whole

Floats = NDArray[np.float64]

GRID = 2**20
PEOPLE = 20_000
QUICK = 2.0**42
"""Larger noise takes the exact path of the sampler, number by number; for it products are coarser."""
RESULTS = Path(__file__).resolve().parent / "results" / "workloads"


@dataclass(frozen=True, slots=True)
class Asked:
    """One workload; ``apart`` and ``price`` are by kind of noise, a deviation for a sensitivity of one."""

    name: str
    grams: tuple[Floats, ...]  # several: factors of one, for a product of strategies
    weight: float  # of all questions together
    apart: dict[Norm, float | None]
    deviation: dict[Norm, float]
    in_people: bool = False  # cells are whole people: worth showing what rounding does


def run(setting: Setting) -> Report:
    draws = 20 if setting.quick else 500
    table = Table(
        f"root mean squared errors, {draws} draws",
        (
            "asked",
            "noise",
            "cells",
            "strategy",
            "apart",
            "on cells",
            "together",
            "drawn",
            "made whole",
            "bound",
        ),
    )
    for asked in _asked(setting.quick):
        for norm in Norm:
            table.rows.append(_row(asked, norm, draws))
    times = _times((16, 32) if setting.quick else (64, 256, 1_024), 2 if setting.quick else 5)
    return Report((table, times), tuple(_verdicts(table, times)))


def _verdicts(table: Table, times: Table) -> Iterator[Verdict]:
    off = [abs(row[7] / row[6] - 1) for row in table.rows]
    yield Verdict("drawn beside expected, the largest difference", max(off), 0.03)
    near = [(row[6] / row[9]) ** 2 for row in table.rows if row[9] is not None and " x " not in row[3]]
    yield Verdict("one matrix, Gaussian: squared error over its lower bound, the largest", max(near), 1.02)
    for asked, noise, _, _, apart, _, together, drawn, rounded, _ in table.rows:
        if apart is not None:
            yield Verdict(f"{asked}, {noise}: apart / together", apart / together, None)
            if rounded is not None:
                yield Verdict(f"{asked}, {noise}: made whole / drawn", rounded / drawn, 1.05)
        if asked.startswith("a view"):
            worth = together if noise == "Laplace" else together**2
            yield Verdict(f"{asked}, {noise}: queries at the same price whose error it has", worth, None)
    for cells, *found in times.rows:
        limit = {256: 300.0, 1_024: 5_000.0}.get(cells)
        for noise, runs in zip(("Laplace", "Gaussian"), found[:2], strict=True):
            yield Verdict(f"search over {cells} cells, {noise}, ms", runs.median, limit, low=runs.best)
        if limit is not None:
            yield Verdict(f"kept, {cells} cells, ms", found[2].median, 5.0, low=found[2].best)


# ---- errors --------------------------------------------------------------------------------------------


def _row(asked: Asked, norm: Norm, draws: int) -> tuple[Any, ...]:
    deviation = asked.deviation[norm]
    designs = [(laplace.optimal if norm is Norm.L1 else gaussian.optimal)(gram) for gram in asked.grams]
    strategy = whole_numbered_product(designs, GRID, deviation, limit=QUICK)
    assert strategy is not None
    bounds = [design.bound for design in designs if design.bound is not None]

    def scaled(square: float) -> float:
        return deviation * math.sqrt(square / asked.weight)

    drawn, rounded = _drawn(asked, norm, strategy, draws)
    return (
        asked.name,
        "Laplace" if norm is Norm.L1 else "Gaussian",
        strategy.cells,
        strategy.name,
        asked.apart[norm],
        scaled(math.prod(float(np.trace(gram)) for gram in asked.grams)),
        scaled(relative_error(strategy, norm, *asked.grams)),
        drawn,
        rounded if asked.in_people else None,
        scaled(math.prod(bounds)) if bounds else None,
    )


def _drawn(asked: Asked, norm: Norm, strategy: Product, draws: int) -> tuple[float, float]:
    """Return the errors of cells that went the whole way, before and after they are made whole."""
    generator = np.random.default_rng(strategy.cells)
    people = generator.multinomial(PEOPLE, generator.dirichlet(np.full(strategy.cells, 0.3)))
    numbers = strategy.measured(people * GRID)
    kind = mechanism("laplace" if norm is Norm.L1 else "gaussian")
    column = strategy.l1 if norm is Norm.L1 else strategy.l2
    ratio = asked.deviation[norm] / (math.sqrt(2) if norm is Norm.L1 else 1)
    scale = kind.scale_for(column * GRID, ratio)
    words = random.Random(f"{asked.name} {norm}").randbytes
    squares, rounded = [], []
    for _ in range(draws):
        noise = kind.draw(scale, strategy.numbers, words)
        noisy = [number + int(n) for number, n in zip(numbers, noise, strict=True)]
        cells = strategy.solve(noisy) / GRID
        off = cells - people
        squares.append(_square(asked, off))
        if asked.in_people:
            rounded.append(_square(asked, whole(cells, *asked.grams)[0] - people))
    return _root(squares, asked), _root(rounded, asked)


def _square(asked: Asked, off: Floats) -> float:
    """Return the weighted sum of squared errors of the questions for these errors of cells."""
    moved = along_axes(asked.grams, off.reshape([len(gram) for gram in asked.grams]))
    return float(off @ moved.ravel())


def _root(squares: Sequence[float], asked: Asked) -> float:
    return math.sqrt(sum(squares) / max(1, len(squares)) / asked.weight)


# ---- what is asked -------------------------------------------------------------------------------------


def _asked(quick: bool) -> Iterator[Asked]:
    alone = {Norm.L1: math.sqrt(2), Norm.L2: 1.0}
    count = {Norm.L1: 1.0, Norm.L2: 1.0}
    if not quick:
        yield _file(2.0)
    yield _grouping_sets(
        "CUBE (ward, sex, smoker)", (6, 3, 3), list(itertools.product((0, 1), repeat=3)), count
    )
    levels = [tuple(int(place < level) for place in range(4)) for level in range(5)]
    yield _grouping_sets("ROLLUP over 12, 6, 3, 3" if not quick else "ROLLUP", (12, 6, 3, 3), levels, count)
    for cells in (16,) if quick else (64, 256, 1_024):
        ranges = cells * (cells + 1) / 2
        nothing = dict.fromkeys(Norm)
        yield Asked(f"all ranges over {cells} bins", (gram.all_ranges(cells),), ranges, nothing, alone)
    if not quick:
        yield _view({Norm.L1: 1.0, Norm.L2: 1.0})


def _grouping_sets(
    name: str, sizes: Sequence[int], sets: Sequence[Sequence[int]], deviation: dict[Norm, float]
) -> Asked:
    """Return a statement with grouping sets, all of the same weight."""
    rows = [
        _crossed(
            [np.eye(size) if kept else np.ones((1, size)) for size, kept in zip(sizes, each, strict=True)]
        )
        for each in sets
    ]
    apart = {Norm.L1: float(len(sets)), Norm.L2: math.sqrt(len(sets))}
    square = gram.of_statements([(1.0, each) for each in rows])
    return Asked(name, (square,), float(len(sets)), apart, deviation)


def _view(deviation: dict[Norm, float]) -> Asked:
    """Return a view: all ranges of 121 ages, every sex and all, every ward and all."""
    sizes = (121, 3, 7)
    grams = (gram.all_ranges(sizes[0]), *(gram.points_and_total(size) for size in sizes[1:]))
    weight = sizes[0] * (sizes[0] + 1) / 2 * math.prod(size + 1 for size in sizes[1:])
    return Asked("a view: age x sex x ward", grams, weight, dict.fromkeys(Norm), deviation)


def _file(epsilon: float) -> Asked:
    """Return the file of 40 statements, at a price in all."""
    statements = list(_statements())
    rho = Zcdp().allowance(epsilon, Budget(epsilon, 1e-6), Fraction(1), False).gaussian
    assert rho is not None
    deviation = {Norm.L1: math.sqrt(2) / epsilon, Norm.L2: rho}
    number = len(statements)
    parts = [rows.sum(axis=0).max() for rows in statements]  # of grouping sets, a unit is in one group each
    apart = {
        Norm.L1: deviation[Norm.L1] * number * math.sqrt(np.mean(np.square(parts))),
        Norm.L2: deviation[Norm.L2] * math.sqrt(number * np.mean(parts)),
    }
    square = gram.of_statements([(1 / number, rows) for rows in statements])
    return Asked(f"a file of {number} statements", (square,), 1.0, apart, deviation, in_people=True)


DECADES, SEXES, WARDS, SMOKERS = 11, 2, 6, 2
"""Each has NULL, or what its list lacks, beside: 12 x 3 x 7 x 3 cells."""


def _statements() -> Iterator[Floats]:
    """Yield the rows of each statement over age, sex, ward and smoker."""
    any_age, any_sex, any_ward, any_smoker = (
        np.ones((1, size + 1)) for size in (DECADES, SEXES, WARDS, SMOKERS)
    )
    sex, smoker = np.eye(SEXES + 1), np.eye(SMOKERS + 1)
    ward, decade = np.eye(WARDS, WARDS + 1), np.eye(DECADES, DECADES + 1)

    def ages(low: int, high: int = 110) -> Floats:
        """Return the condition low <= age < high."""
        return decade[low // 10 : high // 10].sum(axis=0, keepdims=True)

    below = [(0, high) for high in range(10, 90, 10)]
    ranges = [(30, 60), (50, 100), (70, 80), (90, 100), (70, 100), (80, 90)]
    ranges += [(30, 110), (80, 110), (70, 110), (20, 60), (20, 110), (60, 70)]
    for low, high in (*below, *ranges):
        yield _crossed((ages(low, high), any_sex, any_ward, any_smoker))
    for place, low in itertools.product(range(SEXES), (40, 60)):
        yield _crossed((ages(low), sex[[place]], any_ward, any_smoker))
    for place in range(SEXES):
        yield _crossed((any_age, sex[[place]], any_ward, smoker[:1]))
    for place in range(2):
        yield _crossed((ages(60), any_sex, ward[[place]], any_smoker))
    yield _crossed((decade, any_sex, any_ward, any_smoker))
    yield _crossed((any_age, any_sex, ward, any_smoker))
    yield _crossed((any_age, sex, any_ward, any_smoker))
    yield _crossed((any_age, any_sex, any_ward, smoker))
    yield _crossed((any_age, sex, ward, any_smoker))
    yield _crossed((any_age, sex, any_ward, smoker))
    yield _crossed((any_age, any_sex, ward, smoker))
    both = (np.concatenate(pair) for pair in ((sex, any_sex), (ward, any_ward), (smoker, any_smoker)))
    yield _crossed((any_age, *both))
    yield _crossed((decade, sex, any_ward, any_smoker))
    yield _crossed((any_age, any_sex, any_ward, any_smoker))
    yield _crossed((any_age, any_sex, any_ward, smoker[:1]))
    yield _crossed((ages(60), any_sex, any_ward, smoker[:1]))


def _crossed(parts: Sequence[Floats]) -> Floats:
    """Return the rows of conditions that hold together, one on each column."""
    rows = np.ones((1, 1))
    for part in parts:
        rows = np.kron(rows, part)
    return rows


# ---- how long ------------------------------------------------------------------------------------------


def _times(sizes: Sequence[int], rounds: int) -> Table:
    """Time the searches for all ranges, and the same strategy once more."""
    table = Table("ms", ("cells", "Laplace", "Gaussian", "kept"))
    for cells in sizes:
        ranges, kept = gram.all_ranges(cells), StrategyCache()
        for norm in Norm:
            kept.strategy(ranges, norm, GRID, 1.0)
        searches: list[Callable[[], object]] = [
            lambda ranges=ranges: StrategyCache().strategy(ranges, Norm.L1, GRID, 1.0),  # type: ignore[misc]  # bound at once
            lambda ranges=ranges: StrategyCache().strategy(ranges, Norm.L2, GRID, 1.0),  # type: ignore[misc]  # bound at once
            lambda ranges=ranges, kept=kept: kept.strategy(ranges, Norm.L2, GRID, 1.0),  # type: ignore[misc]  # bound at once
        ]
        found: list[Runs] = alternate(searches, rounds)
        table.rows.append((cells, *found))
    return table


# ---- the picture ---------------------------------------------------------------------------------------

WIDTH, LEFT, LINE, TOP = 760, 250, 26, 92
KINDS = (("apart", 4, "#c1666b"), ("on cells", 5, "#d4a017"), ("together", 6, "#0b6e4f"))


def picture(saved: dict[str, Any]) -> str:
    """Return a bar for each error, as a multiple of that of the chosen strategy."""
    rows = saved["tables"][0]["rows"]
    height = TOP + LINE * len(rows) + 34
    most = max(row[place] / row[6] for row in rows for _, place, _ in KINDS if row[place] is not None)
    room = WIDTH - LEFT - 40

    def across(times: float) -> float:
        return room * math.log(times / 0.8) / math.log(most / 0.8)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#24292f">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(16, 22, "Errors of questions, as multiples of the error when answered together", weight="bold"),
    ]
    for at, (name, _, colour) in enumerate(KINDS):
        drawn.append(f'<rect x="{16 + 120 * at}" y="34" width="14" height="10" fill="{colour}"/>')
        drawn.append(_text(36 + 120 * at, 44, name))
    for times in (1, 2, 3, 5, 10, 20):
        if times <= most:
            x = LEFT + across(times)
            drawn.append(f'<path d="M{x:.1f} {TOP - 16}V{height - 30}" stroke="#e3e7eb"/>')
            drawn.append(_text(x, height - 14, f"{times}x", anchor="middle"))
    for number, row in enumerate(rows):
        y = TOP + LINE * number
        drawn.append(_text(LEFT - 10, y + 6, f"{row[0]}, {row[1]}", anchor="end"))
        for at, (name, place, colour) in enumerate(KINDS):
            if row[place] is not None:
                times = row[place] / row[6]
                drawn.append(
                    f'<rect x="{LEFT}" y="{y - 8 + 6 * at}" width="{max(1.0, across(times)):.1f}" height="5" '
                    f'fill="{colour}"><title>{row[0]}, {row[1]}, {name}: {row[place]:.3g}</title></rect>'
                )
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{text}</text>'


if __name__ == "__main__":
    kept_figures = json.loads(RESULTS.with_suffix(".json").read_text(encoding="utf-8"))
    RESULTS.with_suffix(".svg").write_text(picture(kept_figures), encoding="utf-8")
