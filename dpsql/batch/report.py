"""One HTML page of a run: each answer as a chart and a table, what it cost, and the privacy promise.

page(Report(title="monthly", parts=(Part("by_ward", "SELECT ...", answer, price=0.5, paid=0.5), ...), ...))

The page is self-contained: it holds no script and loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dpsql.batch.page_style import PAGE_STYLE
from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.box import below_table
from dpsql.render.cells import one_line
from dpsql.render.digits import above, below
from dpsql.render.display import Look
from dpsql.render.html import ROWS, table_html
from dpsql.render.svg import STYLE, chart_svg

_SAFE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Part:
    """A statement with its answer or its error, its price, and what this run paid for it."""

    name: str
    sql: str
    answer: AnswerFields | None
    price: float
    paid: float
    error: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A table of the policy: who its rows belong to, and the declarations of its columns."""

    name: str
    whose: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Promise:
    """The policy in short: the unit, the budget of all answers together, and the tables."""

    unit: str
    key: str
    epsilon: float
    delta: float
    accountant: str
    tables: tuple[Guarded, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The content of the page; ``taken`` is what the run took off the budget, never more than ``paid``."""

    title: str
    database: str
    analyst: str
    time: str
    parts: tuple[Part, ...]
    paid: float
    taken: float
    remaining: float
    promise: Promise
    versions: tuple[tuple[str, str], ...]


def page(report: Report) -> str:
    """Return the HTML of the page."""
    parts = [
        _head(report),
        _promise(report.promise),
        _contents(report),
        *(_part(at, part) for at, part in enumerate(report.parts, 1)),
        _policy(report.promise),
        _foot(report),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_SAFE}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_line(report.title)}</title>\n<style>\n{PAGE_STYLE}\n{STYLE}\n</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _head(report: Report) -> str:
    who = f"asked by {report.analyst}" if report.analyst else "asked by the owner"
    answered = sum(part.answer is not None for part in report.parts)
    figures = (
        ("answered", f"{answered} of {len(report.parts)}"),
        ("paid epsilon", f"{report.paid:g}"),
        ("off the budget", above(report.taken)),
        ("remaining", below(report.remaining)),
    )
    figure_list = "".join(f"<div><dt>{name}</dt><dd>{_line(text)}</dd></div>" for name, text in figures)
    return (
        f"<header><h1>{_line(report.title)}</h1>"
        f'<p class="soft">{_line(report.database)}, {_line(who)}, {_line(report.time)}</p>'
        f'<dl class="figures">{figure_list}</dl></header>\n<main>'
    )


def _promise(promise: Promise) -> str:
    unit = _line(promise.unit)
    chance = f'<span class="whole">{promise.delta:g}</span>'
    delta = f", but for a chance of {chance} (delta)" if promise.delta else ""
    text = (
        f"Whether all rows of any one {unit} are in the database or none of them, what is answered is "
        "nearly equally likely: numbers from private rows carry noise, so that each probability changes by "
        f"a factor of at most e<sup>{promise.epsilon:g}</sup>{delta}. This holds for everything that is ever "
        "answered, to all analysts together, this page included. "
        "± says how far the noise reaches in 95 of 100 cases."
    )
    return f'<div class="promise"><h2>What is promised to every {unit}</h2><p>{text}</p></div>'


def _contents(report: Report) -> str:
    rows = [
        (f'<a href="#s{at}">{_line(part.name)}</a>', _price(part), _paid(part), _state(part))
        for at, part in enumerate(report.parts, 1)
    ]
    table = _table(("statement", "price", "paid", "answer"), rows, numbers=(1, 2))
    return f"<section><h2>Statements</h2>{table}</section>"


def _price(part: Part) -> str:
    return f"{part.price:g}" if part.price or part.answer is not None else ""


def _paid(part: Part) -> str:
    if part.paid or part.answer is None:
        return f"{part.paid:g}" if part.price else ""
    return "repeated" if part.answer.repeated else "free"


def _state(part: Part) -> str:
    if part.answer is None:
        return '<span class="state">none</span>'
    rows = "1 row" if len(part.answer) == 1 else f"{len(part.answer)} rows"
    return f'<span class="whole">{rows}</span>'


def _part(at: int, part: Part) -> str:
    paid = f"paid {part.paid:g}" if part.paid or part.answer is None else _paid(part)
    notes = [f"price epsilon {part.price:g}, {paid}"] if _price(part) else ["paid nothing"]
    if part.digest:
        notes[0] += f"; plan {part.digest[:12]}"
    if part.answer is None:
        body = f'<pre class="bad">{_text(part.error)}</pre>'
    else:
        body = f'{_chart(part.answer)}<div class="wide">{table_html(part.answer)}</div>'
        notes = [*below_table(part.answer, Look(rows=ROWS))[:-1], *notes]
    small_print = "<br>".join(map(_line, notes))
    return (
        f'<section id="s{at}"><h2>{_line(part.name)}</h2><pre>{_text(part.sql)}</pre>{body}'
        f'<p class="soft small">{small_print}</p></section>'
    )


def _chart(answer: AnswerFields) -> str:
    try:
        return chart_svg(answer, alone=False)
    except InterfaceError:  # the answer has no number to draw
        return ""


def _policy(promise: Promise) -> str:
    delta = f' at delta <span class="whole">{promise.delta:g}</span>' if promise.delta else ""
    text = (
        f"It protects every {_line(promise.unit)}: one value of <code>{_line(promise.key)}</code>. All "
        f"answers together may use up epsilon {promise.epsilon:g}{delta}, counted as {promise.accountant}."
    )
    rows = [
        (_line(table.name), _line(table.whose), "<br>".join(map(_line, table.columns)))
        for table in promise.tables
    ]
    tables = _table(("table", "rows", "columns, as declared"), rows)
    return f"<section><h2>The owner's policy, in short</h2><p>{text}</p>{tables}</section></main>"


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], numbers: tuple[int, ...] = ()) -> str:
    def cells(row: tuple[str, ...], start: str, end: str) -> str:
        kinds = (' class="number"' if at in numbers else "" for at in range(len(row)))
        html_cells = (f"<{start}{kind}>{cell}</{end}>" for kind, cell in zip(kinds, row, strict=True))
        return f"<tr>{''.join(html_cells)}</tr>"

    body = "".join(cells(row, "td", "td") for row in rows)
    head = cells(heads, 'th scope="col"', "th")
    return f'<div class="wide"><table class="whole"><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _foot(report: Report) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions)
    return f'<footer class="soft small">{_line(versions)}</footer>'


def _line(text: str) -> str:
    return escape(one_line(text))


def _text(text: str) -> str:
    return escape("\n".join(map(one_line, text.split("\n"))))
