"""Charts: what is drawn of an answer, its length and its noise's reach, in signs and as SVG."""

from __future__ import annotations

import datetime
import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_boxes import answer, answers

from dpsql.answer import Answer
from dpsql.errors import InterfaceError
from dpsql.ir.model import COEFFICIENTS
from dpsql.render.bar_chart import chart_text
from dpsql.render.chart import chart_of
from dpsql.render.digits import wide
from dpsql.render.display import Look
from dpsql.render.svg import WIDTH, chart_svg
from dpsql.render.text_width import width_of
from dpsql.render.ticks import axis_range, tick_text, ticks
from dpsql.terminal.output import _PLAIN


def told(columns: dict[str, str], *rows: tuple[Any, ...], noised: tuple[int, ...] = (-1,)) -> Answer:
    places = {at % len(columns) for at in noised}
    margins = [tuple(2.0 if at in places else None for at in range(len(columns)))] * len(rows)
    return answer(columns, *rows, margins=margins)


N = {"n": "BIGINT"}
MONTHS = [(datetime.date(2024, month, 1), 100 * month) for month in (3, 1, 2)]

CASES: list[tuple[Answer, str, list[str], bool, list[str]]] = [
    # answer, by, panels, line, labels
    (told({"ward": "VARCHAR"} | N, ("B", 1), ("A", 2)), "ward", ["n"], False, ["B", "A"]),
    (told({"month": "DATE"} | N, *MONTHS), "month", ["n"], True, ["2024-01-01", "2024-02-01", "2024-03-01"]),
    (told({"x": "INTEGER"} | N, (3, 5), (1, 6), (None, 7), (2, 8)), "x", ["n"], True, ["1", "2", "3"]),
    (told({"floor": "INTEGER"} | N, (3, 5), (1, 6)), "floor", ["n"], False, ["3", "1"]),
    (told(N, (5,)), "", ["n"], False, [""]),
    (told({"n": "BIGINT", "age": "DOUBLE"}, (5, 4.0), noised=(0, 1)), "", ["n", "age"], False, [""]),
    (told({"w": "VARCHAR", "m": "INTEGER"} | N, ("A", 3, 5), ("B", 3, 6)), "w", ["m", "n"], False, [*"AB"]),
    (
        told({"sex": "VARCHAR", "ward": "VARCHAR"} | N, *((s, w, 7) for s in "FM" for w in "ABC")),
        "ward, sex", ["n"], False, ["A", "B", "C"],
    ),
    (
        told({"sex": "VARCHAR", "decade": "INTEGER"} | N, *((s, d, 7) for s in "FM" for d in range(4))),
        "decade, sex", ["n"], True, ["0", "1", "2", "3"],
    ),
    (
        told(dict.fromkeys("abc", "VARCHAR") | N, *((a, b, c, 7) for a in "xy" for b in "xy" for c in "xy")),
        "a, b, c", ["n"], False, [f"{a} · {b} · {c}" for a in "xy" for b in "xy" for c in "xy"],
    ),
    (told({"tags": "VARCHAR[]"} | N, (["a"], 1), (["b"], 2)), "tags", ["n"], False, ['["a"]', '["b"]']),
    (
        told({"term": "VARCHAR"} | dict.fromkeys(COEFFICIENTS, "DOUBLE"), ("age", *range(5)), noised=(1,)),
        "term", ["coefficient"], False, ["age"],
    ),
    (told({"t": "VARCHAR", "m": "INTEGER"}, ("x", 1), ("x", 2), noised=()), "t", ["m"], False, ["x", "x"]),
]  # fmt: skip


@pytest.mark.parametrize(("given_", "by", "panels", "line", "labels"), CASES, ids=lambda each: str(each)[:24])
def test_what_is_drawn(given_: Answer, by: str, panels: list[str], line: bool, labels: list[str]) -> None:
    chart = chart_of(given_)
    assert (chart.by, [each.name for each in chart.panels], chart.places is not None) == (by, panels, line)
    assert list(chart.labels) == labels
    for panel in chart.panels:
        assert all(len(each.marks) == len(labels) for each in panel.series)


def test_a_place_without_a_name_is_told_and_not_drawn() -> None:
    assert chart_of(CASES[2][0]).notes == ("1 row without x",)
    assert "(not drawn: 1 row without x)" in chart_text(CASES[2][0])


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        (told({"ward": "VARCHAR"} | N), "no rows"),
        (told({"ward": "VARCHAR"}, ("A",), noised=()), "no number"),
        (told({"ward": "VARCHAR"} | N, ("A", None)), "no number"),
        (told({"x": "DOUBLE"}, (math.nan,)), "no number"),
    ],
)
def test_nothing_to_draw(given_: Answer, why: str) -> None:
    for draw in (chart_text, chart_svg):
        with pytest.raises(InterfaceError, match=f"nothing to plot: the answer has {why}"):
            draw(given_)


BARS = answer(
    {"ward": "VARCHAR", "n": "BIGINT"},
    ("A", 4000), ("B", 1000), ("C", -1000), ("D", None), ("E", 0),
    margins=[(None, 500.0), (None, 500.0), (None, 500.0), (None, None), (None, None)],
)  # fmt: skip


def test_bars_are_as_long_as_their_numbers() -> None:
    """24 columns from -1500 to 4500: a column is 250, and 6 are left of zero."""
    assert chart_text(BARS, Look(40)).split("\n") == [
        "n by ward",
        "A       ██████████████├─┼┤   4 000 ± 500",
        "B       ██├─┼─┤              1 000 ± 500",
        "C ├─┼─┤█│                   -1 000 ± 500",
        "D",
        "E       │                          0 ± ?",
    ]


def test_a_bar_has_eighths() -> None:
    exact = answer({"k": "VARCHAR", "n": "BIGINT"}, ("a", 64), ("b", 8), ("c", 1), ("d", 12), ("e", 63))
    lines = chart_text(exact, Look(2 + 8 + 2 + 2)).split("\n")
    assert lines[1:] == [
        "a ████████  64", "b █          8", "c ▏          1", "d █▌        12", "e ███████▉  63",
    ]  # fmt: skip


def test_series_share_a_scale_and_a_label() -> None:
    text = chart_text(CASES[7][0], Look(60))
    assert text.count("├") == 6
    assert [line for line in text.split("\n") if "±" not in line] == ["n by ward, sex", "A", "B", "C"]


def test_a_line_is_where_its_numbers_are() -> None:
    rows = [(x, x * x) for x in range(10)]
    lines = chart_text(answer({"x": "INTEGER", "y": "BIGINT"}, *rows), Look(50)).split("\n")
    assert lines[0] == "y by x"
    assert lines[-1].split() == [str(x) for x in range(10)]
    first, last = lines[12], lines[1]  # from the lower left to the upper right
    assert "⠀" < first.split("┤")[1].strip()[0] <= "⣿"
    assert "⠀" < last[-1] <= "⣿"
    banded = chart_text(told({"x": "INTEGER", "y": "BIGINT"}, *rows), Look(50))
    assert "░" in banded
    assert "░" not in "\n".join(lines)


def test_both_have_a_spelling_in_ascii() -> None:
    for each in (BARS, CASES[1][0], CASES[8][0]):
        chart_text(each, Look(60)).translate(_PLAIN).encode("ascii")


# ---- SVG ---------------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\x00\x1b\ud83d'


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def test_names_and_texts_are_nothing_but_text() -> None:
    for given_ in (
        told({EVIL: "VARCHAR", "n": "BIGINT"}, (EVIL, 1), ("b", 2)),
        told(
            {"a": "VARCHAR", EVIL: "VARCHAR", EVIL + "n": "BIGINT"},
            *((a, EVIL + b, 1) for a in "abc" for b in "xy"),
        ),
        told({EVIL: "DATE", "n": "BIGINT"}, *MONTHS),
    ):  # fmt: skip
        found = {each.tag.removeprefix(SVG) for each in parsed(chart_svg(given_)).iter()}
        assert found <= {"svg", "title", "style", "g", "rect", "path", "text", "circle"}
        assert "url(" not in chart_svg(given_)
        assert "http" not in chart_svg(given_).replace("http://www.w3.org/2000/svg", "")


def test_bars_and_their_reach_stand_at_scale() -> None:
    svg = parsed(chart_svg(BARS))
    bars = [each for each in svg.iter(f"{SVG}rect") if "bar" in each.get("class", "")]
    widths = [float(each.get("width", "")) for each in bars]
    assert widths[0] == pytest.approx(4 * widths[1], rel=0.01)
    assert widths[1] == pytest.approx(widths[2], rel=0.01)
    assert float(bars[2].get("x", "")) + widths[2] == pytest.approx(float(bars[0].get("x", "")), abs=0.11)
    reaches = [each.get("d", "") for each in svg.iter(f"{SVG}path") if each.get("class") == "reach"]
    ends = [list(map(float, re.match(r"M([\d.]+) [\d.]+H([\d.]+)", each).groups())) for each in reaches]  # type: ignore[union-attr]  # each matches
    assert len(ends) == 3
    assert ends[0][1] - ends[0][0] == pytest.approx(widths[1], rel=0.01)  # 2 * 500


def test_marks_below_bars_stay_on_the_paper() -> None:
    """The first mark stands below the end of short names, and is longer than these."""
    given_ = told({"k": "VARCHAR"} | N, ("A", -2_000_000_000), ("B", 700_000_000))
    for each in parsed(chart_svg(given_)).iter(f"{SVG}text"):
        if each.get("text-anchor") == "middle":
            x, half = float(each.get("x", "")), width_of(each.text or "") / 2
            assert x - half >= -0.1
            assert x + half <= WIDTH + 0.1


def test_lines_have_a_band_and_dots() -> None:
    svg = parsed(chart_svg(CASES[8][0]))
    classes = [each.get("class", "") for each in svg.iter()]
    assert (classes.count("band f0"), classes.count("band f1")) == (1, 1)
    assert classes.count("f0") == classes.count("f1") == 4
    many = told({"x": "DOUBLE"} | N, *((float(x), x) for x in range(500)))
    assert not list(parsed(chart_svg(many)).iter(f"{SVG}circle"))


@pytest.mark.parametrize("numbers", [(5e-324,), (-5e-324, 5e-324), (1e-310, 2e-310), (1e-300, 1.0)])
def test_numbers_without_a_scale_are_drawn_as_zero(numbers: tuple[float, ...]) -> None:
    rows = [(f"k{at}", number) for at, number in enumerate(numbers)]
    given_ = replace(told({"k": "VARCHAR", "n": "DOUBLE"}, *rows), margins=[(None, None)] * len(rows))
    assert f"{numbers[0]:.6g}" in chart_text(given_, Look(60))
    assert parsed(chart_svg(given_)).tag == f"{SVG}svg"


@settings(max_examples=120, deadline=None)
@given(answers(), st.integers(40, 120))
def test_anything_is_drawn_or_refused_by_a_sentence(given_: Answer, width: int) -> None:
    try:
        lines = chart_text(given_, Look(width)).split("\n")
    except InterfaceError:
        with pytest.raises(InterfaceError, match="nothing to plot"):
            chart_svg(given_)
        return
    assert max(map(wide, lines)) <= width
    for each in parsed(chart_svg(given_)).iter(f"{SVG}rect"):
        assert all(math.isfinite(float(each.get(name, "0"))) for name in ("x", "y", "width", "height"))


@settings(max_examples=200)
@given(st.floats(-1e15, 1e15), st.floats(-1e15, 1e15), st.integers(2, 8))
def test_ticks_are_round_and_within(a: float, b: float, about: int) -> None:
    low, high = axis_range(min(a, b), max(a, b))
    found = ticks(low, high, about)
    assert 2 <= len(found) <= about * 4
    slack = (high - low) * 1e-6
    assert low - slack <= found[0]
    assert found[-1] <= high + slack


def test_ticks() -> None:
    assert ticks(0, 7012, 5) == [0, 2000, 4000, 6000]
    assert (tick_text(2000, 1000, " "), tick_text(1.5, 0.5), tick_text(3e12, 1e12)) == (
        "2 000",
        "1.5",
        "3e+12",
    )
    assert axis_range(90, 100) == (90, 100)
    assert axis_range(10, 100) == (0, 100)
    assert axis_range(0, 0)[0] < 0 < axis_range(0, 0)[1]
