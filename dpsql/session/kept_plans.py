"""Plans that are kept while the session is open, each as long as planning again would give the same.

    SELECT COUNT(*) FROM visits WHERE cost < 50     parsed, bound, rewritten, planned; kept
    the same text, values and price again           is what was found of visits still the same? the kept plan

Claim   a kept plan is the one that planning again would give.
Proof   Planning is deterministic: its plan follows from what it is given and from what it asks. It is given
        the text, its name, the values of the question marks with their types, and the price of the call and
        of the session: together the key. What it asks of the session never changes while that is open, but
        for what it asks through ``ask``. So do not: the policy (accountant, time zone, options, limits), the
        catalogue, which keys hold, sizes and ranges of public tables, the versions of dpsql and DuckDB. So
        may: the time, if the query reads it; the bounds that the ledger holds for this version of the data;
        whether this query has paid for a search. Public rows come from the file that was opened, so whether
        that ``stands`` is asked first. A plan is kept with these questions and their answers. Where they are
        asked again, in order, and answered alike, planning again would ask the same ones, by induction, and
        end alike.
Test    tests/privacy/test_kept_plans.py, with planted keys that ignore one part each

A new price is planned anew, but its text need not be read and bound again: neither asks the price, and both
ask nothing but the time, through the moment of the query. While that is the same, a query is kept too.

A plan holds nothing private. What is paid, stored and left is never kept: a debit is made, and a budget is
checked, each time. A refusal is not kept either.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dpsql.ir.plan import PublicKeys, Threshold

if TYPE_CHECKING:  # a session opens before what makes these has loaded
    from dpsql.answer import Answer
    from dpsql.ir.plan import Plan
    from dpsql.ir.source import Source
    from dpsql.parse.parse import Query
    from dpsql.plan.terms import Terms

T = TypeVar("T")
Question = tuple[Callable[[], object], object]
"""What was asked, and the answer."""

Key = tuple[Hashable, ...]
"""What planning is given; the prices come last."""

MOST = 64
"""How many plans are kept; the one that was used least recently goes first."""

LONGEST = 4_000
"""Characters of the text and the values of a plan that is kept; values of an answer."""

LISTED = 256_000
"""Values of public keys of all plans that are kept: anybody may ask for plans, and planning is free."""

_PLAIN = (type(None), bool, int, float, str, Decimal, datetime.date, datetime.datetime)


class ReadOnce:
    """The moment of a query: read when the query first asks for it, and then always the same."""

    __slots__ = ("_kept", "_read", "questions")

    def __init__(self, kept: KeptPlans, read: Callable[[], tuple[datetime.datetime, str]]) -> None:
        self._kept, self._read = kept, read
        self.questions: tuple[Question, ...] = ()

    def __call__(self) -> datetime.datetime:
        if not self.questions:
            self.questions = ((self._read, self._kept.ask(self._read)),)
        ((_, answer),) = self.questions
        return cast("tuple[datetime.datetime, str]", answer)[0]


class Prepared:
    """A query and its plan, with what follows from them alone, and with the answer that was shown last."""

    __slots__ = ("_answer", "_known", "plan", "query", "questions", "terms")

    def __init__(self, query: Query, terms: Terms, plan: Plan) -> None:
        self.query, self.terms, self.plan = query, terms, plan
        self.questions: tuple[Question, ...] = ()
        self._known: dict[str, object] = {}
        self._answer: tuple[bytes, Answer] | None = None

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what ``make`` returned the first time; it must follow from the plan alone."""
        if name not in self._known:
            self._known[name] = make()
        return cast(T, self._known[name])

    def knows(self, name: str) -> bool:
        """Whether ``once`` was asked for this."""
        return name in self._known

    @property
    def listed(self) -> int:
        return self.once("listed", lambda: listed(self.plan))

    @property
    def was_answered(self) -> bool:
        return self._answer is not None

    def shown(self, stored: bytes) -> Answer | None:
        """Return the answer that was shown of these released tables, if it is kept."""
        same = self._answer is not None and self._answer[0] == stored
        return _copy(self._answer[1]) if self._answer is not None and same else None

    def show(self, stored: bytes, answer: Answer) -> None:
        """Keep the answer that is shown of these released tables, if it is small."""
        if len(answer.rows) * len(answer.columns) <= LONGEST and _is_fixed(answer):
            self._answer = stored, _copy(answer)


def _is_fixed(answer: Answer) -> bool:
    """Whether nobody can change its values: no lists, no structs."""
    return all(type(value) in _PLAIN for row in answer.rows for value in row)


def _copy(answer: Answer) -> Answer:
    return replace(answer, rows=list(answer.rows), margins=list(answer.margins))


class KeptPlans:
    """The plans of one session, by key."""

    def __init__(self, stands: Callable[[], bool]) -> None:
        self._stands = stands
        self._plans: dict[Key, Prepared] = {}
        self.last: Prepared | None = None
        self._heard: list[Question] | None = None  # None while nothing is planned

    def ask(self, question: Callable[[], T]) -> T:
        """Ask what may change while the session is open; planning must ask it through this."""
        answer = question()
        if self._heard is not None:
            self._heard.append((question, answer))
        return answer

    def prepared(self, key: Key | None, make: Callable[[Query | None], Prepared]) -> Prepared:
        """Return the kept plan of this key if it still holds, else a new one, which is kept.

        ``make`` is given the query of a plan at another price, if that is kept and still holds.
        """
        kept = None if key is None else self._plans.pop(key, None)
        if kept is None or not _hold(kept.questions):
            before, heard = self._heard, list[Question]()  # a signal's handler may ask in the midst of this
            self._heard = heard
            try:
                kept = make(self._query(key) if self.ask(self._stands) else None)
            finally:
                self._heard = before
            kept.questions = tuple(heard)
        if key is not None and kept.questions[0][1] and kept.listed <= LISTED:
            self._plans[key] = kept
            while len(self._plans) > MOST or self._listed() > LISTED:
                del self._plans[next(iter(self._plans))]
        self.last = kept
        return kept

    def _listed(self) -> int:
        return sum(each.listed for each in self._plans.values())

    def forget(self) -> None:
        """Plan everything anew."""
        self._plans.clear()
        self.last = None

    def _query(self, key: Key | None) -> Query | None:
        """Return the query of a plan with this text and these values, at any price, if it still holds."""
        for other, kept in self._plans.items():
            if key is not None and other[:-1] == key[:-1]:
                assert isinstance(kept.query.now, ReadOnce)
                if _hold(kept.query.now.questions):
                    assert self._heard is not None, "a plan is being made"
                    self._heard += kept.query.now.questions
                    return kept.query
        return None


def _hold(questions: Sequence[Question]) -> bool:
    """Whether all questions have the same answers again."""
    return all(question() == answer for question, answer in questions)


def key_of(source: Source, parameters: Sequence[object], epsilon: float | None, usual: float) -> Key | None:
    """Return what planning is given, prices last; None if values or text are not plain, or long."""
    values, prices = tuple(map(_spelled, parameters)), tuple(map(_spelled, (epsilon, usual)))
    if type(source.text) is not str or None in (*values, *prices):
        return None
    if len(source.text) + sum(len(each[1]) for each in (*values, *prices) if each is not None) > LONGEST:
        return None
    return source.text, source.name, values, prices


def _spelled(value: object) -> tuple[type, str] | None:
    return (type(value), repr(value)) if _is_plain(value) else None


def _is_plain(value: Any) -> bool:
    """Whether type and spelling tell this value from every other: 1, 1.0, true and '1' are four."""
    zoned = type(value) is datetime.datetime and type(value.tzinfo) not in (type(None), datetime.timezone)
    return type(value) in _PLAIN and not zoned


def listed(plan: Plan) -> int:
    """Return how many values of public keys a plan lists."""
    rules = [
        planned.rule.listed if isinstance(planned.rule, Threshold) else planned.rule
        for planned in plan.measures
    ]
    return sum(
        sum(map(len, rule.domains)) + sum(len(rows) for _, rows in rule.tied)
        for rule in rules
        if isinstance(rule, PublicKeys)
    )
