"""The picture of what `python -m benchmarks rivals --save` wrote: whole calls as multiples of plain DuckDB's.

python benchmarks/rivals/picture.py      draws benchmarks/results/rivals.svg anew from rivals.json
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "results" / "rivals"
COLOURS = {"ours": "#0b6e4f", "smartnoise": "#c1666b", "qrlew": "#4a6fa5", "opendp": "#d4a017"}
LEFT, RIGHT, WIDTH = 170, 44, 760
TOP, STEP, RADIUS = 70, 26, 6


def picture(saved: dict[str, Any]) -> str:
    """Return a drawing of a row per question and a dot per contestant, on a logarithmic scale."""
    (table,) = (each for each in saved["tables"] if "over plain DuckDB" in each["title"])
    columns = table["columns"]
    contestants = [name for name in COLOURS if name in columns]
    rows = [
        (
            row[columns.index("asked")],
            {name: row[columns.index(name)] for name in contestants if row[columns.index(name)] is not None},
        )
        for row in table["rows"]
    ]
    most = max(ratio for _, dots in rows for ratio in dots.values())
    decades = max(1, math.ceil(math.log10(most)))
    bottom = TOP + STEP * len(rows)

    def across(ratio: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * max(0.0, math.log10(ratio)) / decades

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 40}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#24292f">',
        f'<rect width="{WIDTH}" height="{bottom + 40}" fill="#ffffff"/>',
        _text(16, 24, "Whole private calls, as multiples of the plain query in DuckDB", weight="bold"),
    ]
    for at, name in enumerate(contestants):
        drawn += [_dot(22 + 110 * at, 44, name), _text(34 + 110 * at, 48, _NAMED.get(name, name))]
    for decade in range(decades + 1):
        for digit in range(1, 10 if decade < decades else 2):
            x = across(digit * 10**decade)
            colour = "#b8bec5" if digit == 1 else "#eceff2"
            drawn.append(f'<path d="M{x:.1f} {TOP - 8}V{bottom}" stroke="{colour}"/>')
        drawn.append(_text(across(10**decade), bottom + 18, f"{10**decade:,}x", anchor="middle"))
    for at, (title, dots) in enumerate(rows):
        y = TOP + STEP * at + STEP // 2 - 4
        drawn.append(_text(LEFT - 14, y + 4, title, anchor="end"))
        furthest = max(dots.values())
        drawn.append(f'<path d="M{across(1):.1f} {y}H{across(furthest):.1f}" stroke="#d5dae0"/>')
        drawn += [
            _dot(across(ratio), y, name, f"{title}, {_NAMED.get(name, name)}: {ratio:.3g}x")
            for name, ratio in reversed(dots.items())
        ]
    return "\n".join([*drawn, "</svg>"]) + "\n"


_NAMED = {"ours": "dpsql", "smartnoise": "SmartNoise", "qrlew": "Qrlew", "opendp": "OpenDP"}


def _dot(x: float, y: float, name: str, title: str = "") -> str:
    inside = f"<title>{title}</title>" if title else ""
    return f'<circle cx="{x:.1f}" cy="{y}" r="{RADIUS}" fill="{COLOURS[name]}">{inside}</circle>'


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" font-weight="{weight}">{text}</text>'


if __name__ == "__main__":
    found = json.loads(RESULTS.with_suffix(".json").read_text(encoding="utf-8"))
    RESULTS.with_suffix(".svg").write_text(picture(found), encoding="utf-8")
