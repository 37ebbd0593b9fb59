"""Statements about private alerts, and the questions that they answer.

    CREATE PRIVATE ALERT flu WITH (epsilon = 0.5, above = 100, times = 3, max_rows = 2, upper = 500)
    CREATE PRIVATE HOLDOUT h WITH (epsilon = 1, times = 3, tolerance = 0.04)
    SELECT DP_HOLDOUT('h', 0.31, AVG(x)) FROM ...
    SELECT DP_ABOVE('flu', COUNT(*)) FROM visits WHERE day = DATE '2024-11-03'
    DROP PRIVATE ALERT flu
    GRANT SELECT ON PRIVATE ALERT flu TO bo        REVOKE SELECT ON PRIVATE ALERT flu FROM bo

A question is planned as the query of the number that it compares: SELECT COUNT(*) FROM visits ...
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from dpsql.errors import Error, refuse
from dpsql.ir.alert import Alert
from dpsql.ir.options import Option
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.named_statements import Access, Drop, done_by, text_of_done
from dpsql.parse.spans import span_of
from dpsql.parse.statement_words import StatementReader

MOST_TIMES = 100
"""The most often that an alert may say true."""

_FIRST = re.compile(
    r"""(?:\s++|--[^\n]*+|/\*.*?\*/)*+
        (?:(?:create|drop)|(?:grant|revoke)(?:\s|--[^\n]*\n|/\*.*?\*/)+select(?:\s|--[^\n]*\n|/\*.*?\*/)+on)
        (?:\s|--[^\n]*\n|/\*.*?\*/)+private(?:\s|--[^\n]*\n|/\*.*?\*/)+(?:alert|holdout)\b""",
    re.I | re.S | re.X,
)


@dataclass(frozen=True, slots=True)
class CreateAlert:
    """A new alert; ``epsilon`` is the price of each true, with the place where it stands."""

    name: str
    at: Span
    alert: Alert
    epsilon: Option | None = None


@dataclass(frozen=True, slots=True)
class AskAlert:
    """Whether a number is above an alert's threshold; ``title`` is what the query calls the outcome.

    Of a holdout, whether a mean is far from a ``public`` one.
    """

    name: str
    at: Span
    title: str
    public: Fraction | None = None


AlertStatement: TypeAlias = CreateAlert | Drop | Access | AskAlert


def alert_statement(text: str) -> CreateAlert | Drop | Access | None:
    """Return a statement about a private alert; None for any other text."""
    if _FIRST.match(text) is None:
        return None
    reader = StatementReader(text, _FORMS)
    create, drop = reader.take("create"), reader.take("drop")
    granted = reader.take("grant")
    if not create and not drop:
        for word in (*(() if granted else ("revoke",)), "select", "on"):
            reader.expect(word)
    reader.expect("private")
    word = "holdout" if reader.take("holdout") else "alert"
    if word == "alert":
        reader.expect("alert")
    name, at = reader.name(f"the name of the {word}")
    if create:
        return _create(reader, name, at, word)
    if drop:
        reader.end()
        return Drop(name, at, word)
    reader.expect("to" if granted else "from")
    analyst, _ = reader.name("the name of an analyst")
    reader.end()
    return Access(name, at, analyst, granted, word)


def alert_text(statement: CreateAlert | Drop | Access) -> str:
    """Return the query that says what a statement has done."""
    done = "created" if isinstance(statement, CreateAlert) else done_by(statement)
    word = statement.alert.word if isinstance(statement, CreateAlert) else statement.word
    return text_of_done(f"private {word}", statement.name, done)


def _create(reader: StatementReader, name: str, at: Span, word: str) -> CreateAlert:
    options, example = _OPTIONS[word], _EXAMPLES[word]
    said, price = dict[str, tuple[float, Span]](), None
    reader.expect("with")
    reader.expect("(")
    while True:
        option, place = reader.name("an option")
        known = option.casefold()
        if known not in options or known in said:
            title = f"{option} is set twice" if known in said else f"a private {word} has no option {option}"
            raise _odd(title, place, f"WITH ({example})")
        reader.expect("=")
        if known == "epsilon":
            value = reader.price()
            price, said[known] = Option(known, value, place), (value, place)
        else:
            said[known] = reader.number()
        if not reader.take(","):
            break
    reader.expect(")")
    reader.end()
    if "above" not in said and word == "alert":
        raise _odd("a private alert needs a threshold", at, f"WITH ({example})")
    return CreateAlert(name, at, _alert(said, word), price)


def _alert(said: dict[str, tuple[float, Span]], word: str) -> Alert:
    """Return the options as an alert; refuse numbers that say nothing."""
    example = _EXAMPLES[word]
    for option, (value, at) in said.items():
        if not math.isfinite(value) or abs(value) > LARGEST:
            raise _odd(f"{option} must be a number of at most 1e15", at, f"WITH ({example})")
    for option, most in [pair for pair in _WHOLE if pair[0] in said]:
        value, at = said[option]
        if value != int(value) or not 1 <= value <= most:
            raise _odd(f"{option} must be a whole number from 1 to {most:,}", at, f"{option} = 3")
    lower, low_at = said.get("lower", (0.0, None))
    upper, high_at = said.get("upper", (1.0, None))
    if lower > 0:
        raise refuse(
            "D105",
            "lower must not be above 0",
            low_at,
            label="what a unit adds counts from 0: it may leave",
            help="leave it out",
        )
    if upper < 0 or upper - lower < 1e-15:
        raise _odd("upper must be above 0, or above lower", high_at or low_at, "upper = 500, lower = -500")
    times, rows = (int(said[option][0]) if option in said else 1 for option, _ in _WHOLE)
    if word == "alert":
        return Alert(said["above"][0], times, rows, lower, upper)
    tolerance, tolerance_at = said.get("tolerance", (TOLERANCE, None))
    if tolerance < 0 or upper < 1e-15:
        odd = tolerance_at if tolerance < 0 else high_at
        raise _odd("a tolerance is not negative, and upper is above 0", odd, "tolerance = 0.04, upper = 1")
    return Alert(0.0, times, rows, 0.0, upper, tolerance)


def _odd(title: str, at: Span | None, help: str) -> Error:
    return refuse("D105", title, at, help=help)


_WHOLE = (("times", MOST_TIMES), ("max_rows", 10**6))


def take_alert_question(tree: exp.Expr, text: str, of_view: bool) -> tuple[exp.Expr, AskAlert | None]:
    """Return the query of the number that DP_ABOVE compares, and the question; the same query without.

    ``of_view``: it is the query of a private view, which asks nothing.
    """
    calls = [node for node in tree.find_all(exp.Anonymous) if node.name.casefold() in (NAME, HOLDOUT)]
    if not calls:
        return tree, None
    call, at = calls[0], span_of(calls[0], text)
    item = tree.expressions[0] if isinstance(tree, exp.Select) and tree.expressions else None
    if of_view or len(calls) > 1 or item is None or item.unalias() is not call or len(tree.expressions) > 1:
        raise _alone(at, call)
    clause = next((key for key, value in tree.args.items() if value and key not in _CLAUSES), None)
    if clause is not None:
        raise _alone(at, call)
    arguments = call.expressions
    if call.name.casefold() == HOLDOUT:
        return _holdout_question(tree, call, at or Span(0, 1), item)
    if len(arguments) != 2 or not (isinstance(arguments[0], exp.Literal) and arguments[0].is_string):
        raise refuse(
            "D205",
            "DP_ABOVE takes the name of an alert, and a number",
            at,
            help="DP_ABOVE('flu', COUNT(*))",
        )
    title = item.alias if isinstance(item, exp.Alias) else NAME
    tree.set("expressions", [arguments[1]])
    return tree, AskAlert(arguments[0].name, at or Span(0, 1), title)


def _holdout_question(
    tree: exp.Expr, call: exp.Anonymous, at: Span, item: exp.Expr
) -> tuple[exp.Expr, AskAlert]:
    named, *numbers = call.expressions or [exp.null()]
    public = _number(numbers[0]) if len(numbers) == 2 else None
    if public is None or not (isinstance(named, exp.Literal) and named.is_string):
        raise refuse(
            "D205",
            "DP_HOLDOUT takes the name of a holdout, a public number, and a mean",
            at,
            label="" if len(numbers) != 2 else "the public number is written out, and is at most 1e15",
            help="DP_HOLDOUT('h', 0.31, AVG(x))",
        )
    title = item.alias if isinstance(item, exp.Alias) else HOLDOUT
    tree.set("expressions", [exp.alias_(numbers[1], title, quoted=True)])
    return tree, AskAlert(named.name, at, title, public)


def _number(node: exp.Expr) -> Fraction | None:
    """Return a number that is written out."""
    inner = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(inner, exp.Literal) or inner.is_string:
        return None
    try:
        decimal = Decimal(inner.name)
    except InvalidOperation:
        return None
    if not decimal.is_finite() or abs(decimal.adjusted()) > _DIGITS or decimal.copy_abs() > LARGEST:
        return None  # before it is made a fraction, which may have as many digits as it says
    value = Fraction(decimal)
    return -value if inner is not node else value


NAME, HOLDOUT = "dp_above", "dp_holdout"
LARGEST = 10**15
"""Largest number in a statement about an alert."""

_DIGITS = 300
_CLAUSES = frozenset(("expressions", "from_", "joins", "where", "with_", "kind"))


def _alone(at: Span | None, call: exp.Anonymous) -> Error:
    above = call.name.casefold() == NAME
    return refuse(
        "D252",
        f"{call.name.upper()} stands alone: one SELECT of one number",
        at,
        label="its outcome is stored before anything else reads it",
        help=f"SELECT {_CALLS[above]} FROM ... WHERE ...",
    )


TOLERANCE = 0.04
_CALLS = ("DP_HOLDOUT('h', 0.31, AVG(x))", "DP_ABOVE('flu', COUNT(*))")
_OPTIONS = {
    "alert": ("epsilon", "above", "times", "max_rows", "lower", "upper"),
    "holdout": ("epsilon", "times", "tolerance", "max_rows", "upper"),
}
_EXAMPLE = "epsilon = 0.5, above = 100, times = 1, max_rows = 1, upper = 1"
_EXAMPLES = {
    "alert": _EXAMPLE,
    "holdout": "epsilon = 1, times = 3, tolerance = 0.04, max_rows = 1, upper = 1",
}
_FORMS = (
    f"CREATE PRIVATE ALERT a WITH ({_EXAMPLE}); DROP PRIVATE ALERT a; "
    "CREATE PRIVATE HOLDOUT h WITH (epsilon = 1, times = 3, tolerance = 0.04); "
    "GRANT SELECT ON PRIVATE ALERT a TO bo; REVOKE SELECT ON PRIVATE ALERT a FROM bo"
)
