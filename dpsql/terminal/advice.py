"""Advice as text: tables and a plot of what prices, budgets, rows per unit and accountants give."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from dpsql.advice.advice import MOST_SHARES, SIZES, Advice, Clipped, Suited
from dpsql.advice.planner import ROWS
from dpsql.render.box import box
from dpsql.render.digits import printable
from dpsql.render.english import one
from dpsql.render.folding import cut
from dpsql.render.log_plot import LETTERS, log_plot

_NONE = "-"


def advice_text(advice: Advice, columns: int) -> str:
    """Return all tables and the plot, within so many columns."""
    parts = [
        _introduction(advice),
        _of_prices(advice),
        *([_of_sizes(advice, columns)] if advice.parts else []),
        *(_of_clips(advice, clipped) for clipped in advice.clips),
        _of_budgets(advice),
        _of_accountants(advice),
    ]
    return printable("\n\n".join(_wrapped(part, columns) for part in parts))


def _wrapped(part: str, columns: int) -> str:
    """Wrap the words of a part; boxes and plots are as wide as they are."""
    lines = [
        textwrap.fill(line, columns, break_on_hyphens=False) if line[:1].isalpha() else cut(line, columns)
        for line in part.split("\n")
    ]
    return "\n".join(lines)


def _introduction(advice: Advice) -> str:
    people = (
        f"nobody says how many {advice.unit}s there are (about in [unit], or --persons): averages "
        f"are over {SIZES[1]:,} rows"
        if advice.persons is None
        else f"there are about {advice.persons:,} {advice.unit}s: averages are over a row of each"
    )
    later = "the first query that needs it finds it for a fifth of its price"
    stand_in = (
        f" Nobody declared rows_per_unit of {', '.join(advice.assumed)}: {ROWS} stands in, and "
        f"{later if advice.found_later else 'no query can be asked before it is declared'}."
        if advice.assumed
        else ""
    )
    refused = "".join(f"\nleft out: {said}" for said in advice.refused)
    return (
        f"{advice.policy} grants epsilon {advice.epsilon:g} at delta {advice.delta:g} in all, under "
        f"{advice.accountant}, and asks {advice.price:g} for a query; {people}.{stand_in} No row was "
        f"read, and nothing is paid.{refused}"
    )


def _of_prices(advice: Advice) -> str:
    asked = "\n".join(f"  {place}  {_on_a_line(sql)}" for place, sql in enumerate(advice.questions, 1))
    rows = [
        (
            line.name + (" (rank)" if line.kind == "of the rank" else ""),
            *(_figure(line.kind, figure) for figure in line.figures),
        )
        for line in advice.lines
    ]
    names = ("price (epsilon)", *(_price(price, advice) for price in advice.prices))
    return (
        f"Prices. The noise of each number stays within ± this, in 95 of 100 answers (* is the policy's "
        f"price):\n{asked}\n{_box(names, rows)}"
    )


def _of_sizes(advice: Advice, columns: int) -> str:
    names = (f"{advice.unit}s", *(_price(price, advice) for price in advice.prices))
    rows = [
        (f"{size:,}", *(_percent(part) for part in parts))
        for size, parts in zip(advice.sizes, advice.parts, strict=True)
    ]
    letters = ", ".join(f"{letter} {price:g}" for letter, price in zip(LETTERS, advice.prices, strict=False))
    lines = [
        [None if part is None else 100 * part for part in line] for line in zip(*advice.parts, strict=True)
    ]
    plot = log_plot(
        advice.sizes, [f"{size:,}" for size in advice.sizes], lines, min(columns, 78), " %", 100.0
    )
    return (
        f"Size. The same of question 1's {advice.shown}, in percent of the most that it could be over so "
        f"many {advice.unit}s, be they all or those of one group:\n{_box(names, rows)}\n\n"
        + "\n".join(plot)
        + f"\nIn the plot: {letters}."
    )


def _of_clips(advice: Advice, clipped: Clipped) -> str:
    names = ("rows_per_unit", *(_price(price, advice) for price in advice.prices))
    rows = [
        (f"{rows:,}{' *' if rows == clipped.declared else ''}", *(_figure("error", each) for each in errors))
        for rows, errors in zip(clipped.rows, clipped.errors, strict=True)
    ]
    return (
        f"rows_per_unit of {clipped.table}. The noise of COUNT(*) grows with it; {one(advice.unit)} with "
        f"more rows counts only as so many, which no margin tells. Take a number that few exceed:\n"
        f"{_box(names, rows)}"
    )


def _of_budgets(advice: Advice) -> str:
    names = (
        "questions",
        *(f"{budget:g}{' *' if budget == advice.epsilon else ''}" for budget in advice.budgets),
    )
    rows = [
        (f"{share:,}", *(_figure("error", each) for each in errors))
        for share, errors in zip(advice.shares, advice.by_budget, strict=True)
    ]
    return (
        f"Budget. If so many questions like question 1 share a whole budget equally, under "
        f"{advice.accountant}, the noise of each stays within:\n{_box(names, rows)}"
    )


def _of_accountants(advice: Advice) -> str:
    names = ("questions", *advice.accountants)
    rows = [
        (f"{share:,}", *_least_marked(errors))
        for share, errors in zip(advice.shares, advice.by_accountant, strict=True)
    ]
    return "\n".join(
        [
            f"Accountant. The same under each, at epsilon {advice.epsilon:g} and delta "
            f"{advice.compared_delta:g} (pure has no delta; < marks the least):",
            _box(names, rows),
            *_suits(advice.suited),
        ]
    )


def _suits(suited: Sequence[Suited]) -> Iterator[str]:
    """Yield a sentence for the questions of which the same is to be said."""
    said = {each.question: _suit(each) for each in suited}
    for words in dict.fromkeys(said.values()):
        questions = [str(question) for question, its in said.items() if its == words]
        yield f"Question{'s' if len(questions) > 1 else ''} {', '.join(questions)}: {words}"


def _suit(suited: Suited) -> str:
    few = "pure or approx" if suited.pure else "approx (pure cannot show its groups)"
    if suited.zcdp_from is None:
        return f"{few}, up to {MOST_SHARES:,} such questions."
    if suited.zcdp_from == 1:
        return "zcdp, even for one."
    return f"zcdp for {suited.zcdp_from:,} such questions and more, {few} for fewer."


def _least_marked(errors: Sequence[float | None]) -> Iterator[str]:
    least = min((error for error in errors if error is not None), default=math.nan)
    for error in errors:
        yield _figure("error", error) + (" <" if error == least else "  ")


def _box(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return box(names, rows, [False, *(True for _ in names[1:])])


def _price(price: float, advice: Advice) -> str:
    return f"{price:g}{' *' if price == advice.price else ''}"


def _figure(kind: str, figure: float | None) -> str:
    if figure is None:
        return _NONE
    return (
        f"{figure:,.0f}"
        if kind == "fit"
        else f"{math.ceil(figure):,}"
        if kind == "shows"
        else f"± {_short(figure)}"
    )


_LARGE = ((1e12, ""), (1e9, "bn"), (1e6, "M"), (1e3, "k"))


def _short(number: float) -> str:
    """Format an error with two digits or as a whole number, in few columns: 0.26, 78, 8,616, 217k, 4.3M."""
    if number < 100_000:
        return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.2g}"
    size, sign = next((size, sign) for size, sign in _LARGE if number >= size)
    parts = number / size
    if not sign:
        return f"{number:.2g}"
    return f"{parts:.0f}{sign}" if parts >= 10 else f"{parts:.1f}{sign}"


def _percent(part: float | None) -> str:
    if part is None:
        return _NONE
    return "> 100 %" if part > 1 else f"{100 * part:.2g} %" if part < 0.995 else "100 %"


def _on_a_line(sql: str) -> str:
    return " ".join(sql.split())
