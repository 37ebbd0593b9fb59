"""Parameters and the current time, replaced by literals.

Parameters are values, checked like literals. ``now()`` and ``current_date`` have one value per statement.
The resulting tree contains neither.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeAlias

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import InterfaceError, refuse
from dpsql.ir.column import Value
from dpsql.ir.source import Span

Moment: TypeAlias = Callable[[], datetime.datetime]
"""The time of a statement: called only if the statement reads the clock, and always the same."""

MOST_GIVEN = 100_000
"""Maximum characters of all parameters together, as for the text of a query."""

_HOW = "write ? and give a value for each, in order; or give a mapping of names, in Python"

_CLOCKS = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Localtimestamp, exp.Localtime)
_CLOCK_NAMES = {"now", "get_current_timestamp", "transaction_timestamp"}


def number_marks(tokens: list[Token], parameters: Sequence[Value]) -> list[Token]:
    """Replace every ``?`` by ``$1``, ``$2``... in text order, which the parser does not keep."""
    numbered: list[Token] = []
    marks = 0
    for token in tokens:
        if token.token_type is TokenType.PARAMETER:
            span = Span(token.start, token.end + 1)
            raise refuse("D106", "this parameter has no value", span, help=_HOW)
        if token.token_type is not TokenType.PLACEHOLDER:
            numbered.append(token)
            continue
        marks += 1
        line, column, start, end = token.line, token.col, token.start, token.end
        numbered.append(Token(TokenType.PARAMETER, "$", line, column, start, end))
        numbered.append(Token(TokenType.NUMBER, str(marks), line, column, start, end))
    if marks != len(parameters):
        asked = "1 question mark" if marks == 1 else f"{marks} question marks"
        values = "1 value was" if len(parameters) == 1 else f"{len(parameters)} values were"
        raise refuse(
            "D106",
            f"the query has {asked}, and {values} given",
            help="give one value for each question mark" if marks else "write ? where each value belongs",
        )
    if sum(len(value) for value in parameters if isinstance(value, str)) > MOST_GIVEN:
        raise refuse(
            "D103",
            f"the values of the parameters are longer than {MOST_GIVEN:,} characters",
            help="compare with the first characters: LEFT(x, 100) = ?; or ask for fewer values at a time",
        )
    return numbered


def fill(tree: exp.Expr, parameters: Sequence[Value], marks: Sequence[Span], now: Moment) -> exp.Expr:
    """Replace parameters and calls of the clock by literals.

    ``marks`` are the spans of the question marks.
    """
    for mark in list(tree.find_all(exp.Placeholder, exp.Parameter)):
        if not mark.name.isdigit():
            raise refuse("D106", "this parameter has no value", help=_HOW)
        if mark.find_ancestor(exp.Bracket):  # sqlglot subtracts 1 from an integer index
            raise refuse(
                "D106", "a parameter cannot be an index in brackets", help="write list_extract(list, ?)"
            )
        number = int(mark.name) - 1
        _replace(node_of(parameters[number]), mark, marks[number])
    for clock in list(tree.find_all(*_CLOCKS)):
        _replace(_clock_value(clock, now()), clock, _name_span(clock))
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.casefold() in _CLOCK_NAMES and not call.expressions:
            _replace(node_of(now()), call, _name_span(call))
    return tree


def _name_span(call: exp.Expr) -> Span | None:
    """Return the span of the name of a call; None for CURRENT_DATE and other names without parentheses."""
    return Span(call.meta["start"], call.meta["end"] + 1) if "start" in call.meta else None


def _replace(value: exp.Expr, old: exp.Expr, span: Span | None) -> None:
    """Replace a node by a value with the same span."""
    if span is not None:
        value.meta.update(start=span.start, end=span.end - 1)
    old.replace(value)


def node_of(value: Value) -> exp.Expr:
    """Return a literal node for a Python value; refuse anything but a plain finite value."""
    if value is None:
        return exp.Null()
    if type(value) is bool:
        return exp.Boolean(this=value)
    if type(value) is int and abs(value) < 2**127:
        return _number(str(abs(value)), negative=value < 0)
    if type(value) is float and math.isfinite(value):
        text = repr(abs(value))
        return _number(text if "e" in text else text + "e0", negative=math.copysign(1.0, value) < 0)
    if type(value) is Decimal and value.is_finite() and abs(value.adjusted()) < 38:
        return _number(format(abs(value), "f"), negative=value < 0)
    if type(value) is str:
        return exp.Literal.string(value)
    if type(value) is datetime.datetime:
        name = "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ"
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), name, dialect="duckdb")
    if type(value) is datetime.date:
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE", dialect="duckdb")
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        shown = "a number that is not finite, or wider than 38 digits"
    else:
        shown = type(value).__name__
    many = isinstance(value, list | tuple | set)
    raise InterfaceError(
        f"a parameter cannot be {shown}",
        help="write a question mark for each of its values, as in IN (?, ?)"
        if many
        else "give None, bool, int, float, Decimal, str, date or datetime",
    )


def _number(text: str, negative: bool) -> exp.Expr:
    literal = exp.Literal.number(text)
    return exp.Neg(this=literal) if negative else literal


def _clock_value(clock: exp.Expr | exp.Func, now: datetime.datetime) -> exp.Expr:
    if isinstance(clock, exp.CurrentDate):
        return node_of(now.date())
    if isinstance(clock, exp.CurrentTime | exp.Localtime):
        return exp.cast(exp.Literal.string(now.time().isoformat()), "TIME", dialect="duckdb")
    if isinstance(clock, exp.Localtimestamp):
        return node_of(now.replace(tzinfo=None))
    return node_of(now)
