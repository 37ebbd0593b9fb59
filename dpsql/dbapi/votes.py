"""``dpsql.vote``: labels of public rows, by the vote of learners that each see a few units."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpsql.dbapi.connection import Connection
from dpsql.dbapi.guard import Parameters, asked, guarded, number_of, own, values_of
from dpsql.errors import InterfaceError, refuse

if TYPE_CHECKING:
    from dpsql.answer import Answer
    from dpsql.ir.column import Value

MOST_ROWS, MOST_TEACHERS = 100_000, 10_000
_PLAIN = (type(None), bool, int, float, str, Decimal, datetime.date, datetime.datetime)


def vote(
    db: Connection,
    sql: str,
    learner: Callable[[list[tuple[Any, ...]], list[tuple[Any, ...]]], Sequence[Any]],
    rows: Sequence[Sequence[Value]],
    teachers: int = 250,
    epsilon: float = 0.05,
    *,
    parameters: Parameters = (),
    seconds: int = 60,
    megabytes: int = 4096,
) -> Answer:
    """Return a label for each public row, chosen by the votes of ``teachers``; only the owner may.

    The first column of ``sql`` is predicted by the others. Each teacher is a process of its own that calls
    ``learner(examples, rows)``: examples are (label, value, ...) of its units, rows are the public ones, and
    it returns a label for each of these. Every label costs ``epsilon``. A teacher may compute for so many
    ``seconds`` of the processor, and take so many ``megabytes`` beside what the learner's file took to be
    loaded; no file that it writes may be larger.
    """
    source, values = asked(sql, parameters)
    if db.analyst is not None:
        db.cursor().close()
        raise refuse(
            "D508",
            "only the owner may ask for a vote",
            label=f"this connection was opened for {db.analyst}",
            help="open one without analyst=: a learner is code that reads private rows",
        )
    from dpsql.ir.votes import Ballot
    from dpsql.teachers.learner import learner_of

    price = own(epsilon)
    if type(price) not in (int, float) or not 1e-6 <= price <= 40:
        raise InterfaceError("epsilon is the price of a label, a number from 1e-6 to 40", help="epsilon=0.05")
    ballot = Ballot(
        learner_of(learner),
        _public(rows),
        _within(teachers, MOST_TEACHERS, "teachers=250"),
        float(price),
        _within(seconds, 86_400, "seconds=60"),
        _within(megabytes, 1_000_000, "megabytes=4096"),
    )
    with db._using() as session:
        from dpsql.teachers.vote import vote as answered

        return guarded(lambda: answered(session, source, values, ballot))


def _within(number: int, most: int, example: str) -> int:
    found = number_of(number)
    if not 1 <= found <= most:
        raise InterfaceError(f"{example.split('=')[0]} is a number from 1 to {most:,}", help=example)
    return found


def _public(rows: Sequence[Sequence[Value]]) -> tuple[tuple[Value, ...], ...]:
    """Return public rows as values of Python."""
    found = tuple(values_of(row) for row in rows)
    if not 1 <= len(found) <= MOST_ROWS:
        raise InterfaceError(
            f"a vote has 1 to {MOST_ROWS:,} public rows, not {len(found):,}",
            help="rows=[(41, 'F'), ...]",
        )
    odd = next((value for row in found for value in row if type(value) not in _PLAIN), None)
    if odd is not None or any(isinstance(v, float) and not math.isfinite(v) for row in found for v in row):
        raise InterfaceError(
            "a public row has numbers, texts, booleans, dates and None", help="rows=[(41, 'F'), ...]"
        )
    return found
