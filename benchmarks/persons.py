"""How far is an answer off, against the number of persons and epsilon?

A count, an average and a sum of so many people, each released many times with the system's randomness.
``error`` is the distance from the exact answer that 95 of 100 releases keep, as a part of it; nothing where
an answer is empty. ``share within`` is of those within the error that ``explain`` expects. The accountant is
zcdp, at a delta of 1e-6, and epsilon the price of one query.

python -m benchmarks persons --save      also draws benchmarks/results/persons.svg
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import connect, people
from benchmarks.released import Drawn
from benchmarks.timing import Report, Setting, Table, Verdict

RESULTS = Path(__file__).resolve().parent / "results" / "persons"
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
PRICES = (0.1, 0.3, 1.0, 3.0)
ASKED = ("COUNT(*)", "AVG(age)", "SUM(income)")
COLOURS = ("#c1666b", "#d4a017", "#4a6fa5", "#0b6e4f")
"""Of the prices."""


def run(setting: Setting) -> Report:
    sizes, releases = (SIZES[:2], 40) if setting.quick else (SIZES, 1_000)
    tables, counted = [], []
    for asked in ASKED:
        table = Table(
            f"{asked}: {releases} releases in each row",
            ("persons", "epsilon", "answer", "error", "share within"),
        )
        for size in sizes:
            with connect(people(setting, size)) as db:
                for price in PRICES:
                    drawn = Drawn(db, f"SELECT {asked} FROM people", price)
                    (exact,) = drawn.exact()
                    off = np.abs(drawn.values(releases)[:, 0] - exact)
                    far = float(np.quantile(off, 0.95))  # nan where an average has too few rows to be shown
                    error = None if math.isnan(far) else far / abs(exact)
                    (expected,) = db.price(f"SELECT {asked} FROM people", epsilon=price).expected
                    margin = expected.error
                    if margin is not None and expected.at_rows is not None:
                        margin *= expected.at_rows / size
                    within = math.nan if margin is None else float(np.mean(off <= margin * (1 + 1e-9)))
                    table.rows.append((size, price, float(exact), error, within))
                    if asked == "COUNT(*)":
                        counted.append(within)
        tables.append(table)
    return Report(
        tuple(tables),
        (
            Verdict("counts within their margin, the least share", min(counted), 0.92, at_least=True),
            Verdict("counts: error at epsilon 1 over 1,000 persons", _error(tables[0], 1_000, 1.0), None),
            Verdict(
                "counts: error at epsilon 1 over the most persons", _error(tables[0], sizes[-1], 1.0), None
            ),
        ),
    )


def _error(table: Table, size: int, price: float) -> float:
    (error,) = (row[3] for row in table.rows if row[:2] == (size, price))
    return float(error)


# ---- the picture -------------------------------------------------------------------------------------

WIDTH, HEIGHT, TOP, BOTTOM, LEFT, GAP = 760, 300, 64, 44, 76, 26


def picture(saved: dict[str, Any]) -> str:
    """Return a panel for each question: error in percent over persons, a line for each epsilon."""
    tables = saved["tables"]
    least = min(row[3] for table in tables for row in table["rows"] if row[3] is not None)
    low, high = math.floor(math.log10(least)), 0  # above 100 % nothing is drawn
    sizes = sorted({row[0] for row in tables[0]["rows"]})
    ends = math.log10(sizes[0]), math.log10(sizes[-1])
    room = (WIDTH - LEFT - GAP * len(tables)) / len(tables)

    def down(part: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - math.log10(part)) / (high - low)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#24292f">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(
            16, 22, "How far off are 95 of 100 answers? In percent, over the number of persons", weight="bold"
        ),
    ]
    for at, price in enumerate(PRICES):
        drawn += [
            f'<path d="M{16 + 120 * at} 40h18" stroke="{COLOURS[at]}" stroke-width="3"/>',
            _text(40 + 120 * at, 44, f"epsilon {price:g}"),
        ]
    for power in range(low, high + 1):
        drawn.append(_text(LEFT - 8, down(10.0**power) + 4, f"{100 * 10.0**power:g} %", anchor="end"))
    for at, table in enumerate(tables):
        left = LEFT + at * (room + GAP)

        def across(size: float, left: float = left) -> float:
            return left + room * (math.log10(size) - ends[0]) / (ends[1] - ends[0])

        for power in range(low, high + 1):
            drawn.append(f'<path d="M{left:.1f} {down(10.0**power):.1f}h{room:.1f}" stroke="#e3e7eb"/>')
        for size in sizes:
            drawn.append(f'<path d="M{across(size):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e3e7eb"/>')
            drawn.append(_text(across(size), HEIGHT - BOTTOM + 16, _short(size), anchor="middle"))
        drawn.append(_text(left + room / 2, HEIGHT - 8, table["title"].partition(":")[0], anchor="middle"))
        for colour, price in zip(COLOURS, PRICES, strict=True):
            points = [(row[0], row[3]) for row in table["rows"] if row[1] == price and _shown(row)]
            path = " ".join(f"{across(size):.1f},{down(error):.1f}" for size, error in points)
            drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            drawn += [
                f'<circle cx="{across(size):.1f}" cy="{down(error):.1f}" r="3.5" fill="{colour}">'
                f"<title>{size:,} persons, epsilon {price:g}: {100 * error:.2g} %</title></circle>"
                for size, error in points
            ]
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _short(size: int) -> str:
    """Return a number of persons as an axis shows it: 100, 10k, 1M."""
    return f"{size // 10**6}M" if size >= 10**6 else f"{size // 1000}k" if size >= 1000 else f"{size}"


def _shown(row: list[Any]) -> bool:
    return row[3] is not None and row[3] <= 1


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{text}</text>'


if __name__ == "__main__":
    found = json.loads(RESULTS.with_suffix(".json").read_text(encoding="utf-8"))
    RESULTS.with_suffix(".svg").write_text(picture(found), encoding="utf-8")
