"""Statements about private views: read word by word, since neither DuckDB nor its parsers know them.

    CREATE PRIVATE VIEW census WITH (epsilon = 0.5, ranges = (age), dimensions = (sex, ward)) AS SELECT ...
    REFRESH PRIVATE VIEW census
    DROP PRIVATE VIEW census
    GRANT SELECT ON census TO bo        REVOKE SELECT ON census FROM bo

The query of a view keeps its place in the text, so that carets point into the statement.
"""

from __future__ import annotations

import re
from dataclasses import replace

from dpsql.errors import refuse
from dpsql.ir.options import Option
from dpsql.ir.private_view import COUNT, METHODS, PrivateView, with_ranges
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.named_statements import Access, Drop, done_by, text_of_done
from dpsql.parse.statement_words import StatementReader, unquoted

_FIRST = re.compile(r"(?:\s++|--[^\n]*+|/\*.*?\*/)*+(create|refresh|drop|grant|revoke)\b", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Create:
    """A new view; ``text`` is the statement with all but the view's query made blank.

    ``epsilon`` is its price with the place where it stands.
    """

    view: PrivateView
    at: Span
    text: str
    epsilon: Option | None = None


@dataclass(frozen=True, slots=True)
class Refresh:
    """The same view of the present data."""

    name: str
    at: Span


ViewStatement = Create | Refresh | Drop | Access


def view_statement(text: str) -> ViewStatement | None:
    """Return a statement about a private view; None for any other text."""
    first = _FIRST.match(text)
    if first is None:
        return None
    reader = StatementReader(text, _FORMS)
    word = first[1].casefold()
    reader.take(word)
    access = word in ("grant", "revoke")
    if not reader.take("select" if access else "private"):
        return None  # CREATE TABLE and the like: only queries are answered
    if access:
        return _access(reader, granted=word == "grant")
    reader.expect("view")
    name, at = reader.name("the name of the view")
    if word == "create":
        return _create(reader, name, at)
    reader.end()
    return Refresh(name, at) if word == "refresh" else Drop(name, at)


def query_text(statement: ViewStatement, text: str) -> str:
    """Return the query that a statement is planned as: that of the view, its rows, or what was done."""
    match statement:
        case Create():
            return statement.text
        case Refresh(at=at):
            return "FROM ".rjust(at.start) + text[at.start : at.end]
        case Drop() | Access():
            return text_of_done("private view", statement.name, done_by(statement))


def _create(reader: StatementReader, name: str, at: Span) -> Create:
    view, price = PrivateView(name), None
    if reader.take("with"):
        reader.expect("(")
        said = set[str]()
        while True:
            at_price = reader.place()
            view = _with_option(reader, view, said)
            if view.epsilon is not None and price is None and at_price is not None:
                price = Option("epsilon", view.epsilon, at_price)
            if not reader.take(","):
                break
        reader.expect(")")
    if view.method is not None and (view.ranges or view.sums):
        raise refuse(
            "D105",
            f"a method and {'ranges' if view.ranges else 'sums'} do not go together",
            view.names_at,
            label="synthetic rows are made for pairs of columns",
            help=f"leave the {'ranges' if view.ranges else 'sums'} out; or the method: all combinations are "
            "counted then",
        )
    reader.expect("as")
    place = reader.place()
    if place is None:
        raise reader.wrong("the query of the view", "write AS SELECT age, sex, ward FROM ...")
    blank = re.sub(r"[^\n]", " ", reader.text[: place.start])
    return Create(view, at, blank + reader.text[place.start :], price)


def _with_option(reader: StatementReader, view: PrivateView, said: set[str]) -> PrivateView:
    option, at = reader.name("an option")
    known = option.casefold()
    if known not in ("epsilon", "ranges", "dimensions", "method", "sums") or known in said:
        raise refuse(
            "D105",
            f"{option} is set twice" if known in said else f"a private view has no option {option}",
            at,
            help="WITH (epsilon = 0.5, ranges = (age), dimensions = (sex, ward), sums = (cost))",
        )
    said.add(known)
    reader.expect("=")
    if known == "epsilon":
        return replace(view, epsilon=reader.price())
    if known == "method":
        return replace(view, method=_method(reader))
    start = reader.place()
    names = tuple(_names(reader))
    assert start is not None, "a name was read"
    view = replace(view, names_at=Span(start.start, reader.behind))
    if known == "sums":
        _check_apart(view, names, (*view.ranges, *view.columns))
        return replace(view, sums=names)
    _check_apart(view, view.sums, names)
    if known == "ranges":
        return replace(view, ranges=names, columns=with_ranges(view.columns, names) if view.columns else ())
    return replace(view, columns=with_ranges(names, view.ranges))


def _check_apart(view: PrivateView, sums: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Refuse a column that is summed, and whose values would be counted."""
    folded = [name.casefold() for name in others]
    twice = [name for place, name in enumerate(sums) if name.casefold() in map(str.casefold, sums[:place])]
    if twice:
        once = f"sums = ({', '.join(dict.fromkeys(name.casefold() for name in sums))})"
        raise refuse("D105", f"{twice[0]} is summed twice", view.names_at, help=once)
    both = next((name for name in sums if name.casefold() in folded), None)
    if both is not None:
        raise refuse(
            "D105",
            f"{both} is summed, and a dimension too",
            view.names_at,
            help=f"leave it out of one: sums = ({both}) adds its values up in each combination of the others",
        )


def _names(reader: StatementReader) -> list[str]:
    """Read one name, or several in parentheses."""
    if not reader.take("("):
        return [_column(reader)]
    names = [_column(reader)]
    while reader.take(","):
        names.append(_column(reader))
    reader.expect(")")
    return names


def _column(reader: StatementReader) -> str:
    name, at = reader.name("the name of a column")
    if name.casefold() == COUNT:
        title = f"{COUNT} is the column with the count"
        raise refuse("D203", title, at, help="give that column another name")
    return name


def _access(reader: StatementReader, granted: bool) -> Access:
    reader.expect("on")
    if reader.take("private"):
        reader.expect("view")
    name, at = reader.name("the name of the view")
    reader.expect("to" if granted else "from")
    analyst, _ = reader.name("the name of an analyst")
    reader.end()
    return Access(name, at, analyst, granted)


def _method(reader: StatementReader) -> str:
    """Read the name of a method, in quotes."""
    name, at = reader.read("the name of a method", ("text",), unquoted)
    if name.casefold() not in METHODS:
        listed = " and ".join(f"'{method}'" for method in METHODS)
        raise refuse("D105", f"there is no method {name}", at, help=f"the methods are {listed}")
    return name.casefold()


_FORMS = (
    "CREATE PRIVATE VIEW v WITH (epsilon = 0.5, ranges = (age)) AS SELECT ...; REFRESH PRIVATE VIEW v; "
    "DROP PRIVATE VIEW v; GRANT SELECT ON v TO bo; REVOKE SELECT ON v FROM bo"
)
