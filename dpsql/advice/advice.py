"""The figures of ``dpsql advise``: errors over prices, persons, rows per unit, budgets and accountants.

prices        each number of each question, at the policy's price and at others; how many questions fit
sizes         the first number, as a part of the most that it could be, over persons and prices
clips         COUNT(*) of a table with several rows per unit, over rows_per_unit and prices
budgets       the first number, if a whole budget is shared equally by so many questions, over budgets
accountants   the same under the policy's budget, over accountants; from how many on zcdp has less noise
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

from dpsql.accounting import Budget
from dpsql.advice.planner import Answerable, Number, Planner, Setting, Unanswerable
from dpsql.advice.questions import counted, questions_of
from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.parse import Query

PRICES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
CLIPS = (1, 2, 5, 10, 20, 50, 100)
BUDGETS = (0.5, 1.0, 2.0, 5.0, 10.0)
SHARES = (1, 2, 5, 10, 20, 40, 100, 1_000)
ACCOUNTANTS = ("pure", "approx", "zcdp")
DELTA = 1e-6
"""The delta that accountants are compared at where the policy has none."""

MOST_SHARES = 10_000
_TABLES = 2  # whose rows per unit are shown
_COLUMNS = 5  # of prices, and of budgets


@dataclass(frozen=True, slots=True)
class Line:
    """A row of figures; None where there is none. ``kind`` says what they are."""

    name: str
    kind: str  # "error", "of the rank", "shows", "fit"
    figures: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Clipped:
    """Errors of COUNT(*) of a table, for each number of rows per unit over prices."""

    table: str
    declared: int | None
    rows: tuple[int, ...]
    errors: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Suited:
    """From how many equal questions on zcdp has the least noise; None: not up to ``MOST_SHARES``."""

    question: int
    zcdp_from: int | None
    pure: bool  # whether pure can answer it at all


@dataclass(frozen=True, slots=True)
class Advice:
    """All figures. ``persons`` is None where nobody said how many units there are."""

    policy: str
    unit: str
    epsilon: float
    delta: float
    accountant: str
    price: float
    persons: int | None
    questions: tuple[str, ...]
    refused: tuple[str, ...]
    assumed: tuple[str, ...]
    found_later: bool  # whether queries find what nobody declared
    prices: tuple[float, ...]
    lines: tuple[Line, ...]
    shown: str
    of: str
    sizes: tuple[int, ...]
    parts: tuple[tuple[float | None, ...], ...]
    clips: tuple[Clipped, ...]
    shares: tuple[int, ...]
    budgets: tuple[float, ...]
    by_budget: tuple[tuple[float | None, ...], ...]
    accountants: tuple[str, ...]
    by_accountant: tuple[tuple[float | None, ...], ...]
    suited: tuple[Suited, ...]
    compared_delta: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def advice(planner: Planner, texts: Sequence[str] = (), persons: int | None = None) -> Advice:
    """Return the figures for these questions, or for a few made from the policy."""
    setting, policy = planner.setting, planner.policy
    persons = persons or policy.unit.about
    asked = [planner.parsed(text, f"question {place}") for place, text in enumerate(texts, 1)]
    queries = asked or [planner.parsed(text) for text in questions_of(planner.known)]
    usual = [planner.answerable(query, setting) for query in queries]
    _refuse_given(asked, usual)
    answered = [query for query, each in zip(queries, usual, strict=True) if isinstance(each, Answerable)]
    refused = [
        f"{query.source.text}: {each.said}"
        for query, each in zip(queries, usual, strict=True)
        if isinstance(each, Unanswerable)
    ]
    prices = _prices(setting, policy.query.max_epsilon)
    first = answered[0]
    sizes = tuple(sorted({*SIZES, *([] if persons is None else [persons])}))
    number, parts = _parts(planner, first, setting, prices, sizes)
    compared = setting if setting.budget.delta else replace(setting, budget=_with_delta(setting.budget))
    budgets = _among(setting.budget.epsilon, BUDGETS)
    names = tuple(dict.fromkeys((*ACCOUNTANTS, setting.accountant)))  # the policy's own too

    def of_share(setting: Setting, share: int) -> float | None:
        return _error(_number(planner, first, shared(setting, share), number), persons)

    return Advice(
        policy=policy.name,
        unit=planner.known.unit,
        epsilon=setting.budget.epsilon,
        delta=setting.budget.delta,
        accountant=setting.accountant,
        price=setting.epsilon,
        persons=persons,
        questions=tuple(query.source.text for query in answered),
        refused=tuple(refused),
        assumed=tuple(table.name for table in planner.many if table.rows is None),
        found_later=policy.query.find_bounds,
        prices=prices,
        lines=tuple(_lines(planner, answered, setting, prices, persons)),
        shown=_shown(planner, first, setting, number),
        of=first.source.text,
        sizes=sizes if parts else (),
        parts=parts,
        clips=tuple(_clipped(planner, setting, prices)),
        shares=SHARES,
        budgets=budgets,
        by_budget=tuple(
            tuple(
                of_share(replace(setting, budget=Budget(budget, setting.budget.delta)), share)
                for budget in budgets
            )
            for share in SHARES
        ),
        accountants=names,
        by_accountant=tuple(
            tuple(of_share(replace(compared, accountant=name), share) for name in names) for share in SHARES
        ),
        suited=tuple(_suited(planner, query, compared, at) for at, query in enumerate(answered, 1)),
        compared_delta=compared.budget.delta,
    )


def one_count(planner: Planner) -> tuple[str, float, int] | None:
    """Return a question, the error of its first number at the policy's price, and how many such fit."""
    setting = planner.setting
    for text in questions_of(planner.known):
        made = planner.answerable(planner.parsed(text), setting)
        if isinstance(made, Answerable) and (error := made.numbers[0].error(1)) is not None:
            return text, error, made.fit(setting)
    return None


def _refuse_given(asked: Sequence[Query], usual: Sequence[Answerable | Unanswerable]) -> None:
    """Refuse a question that was given and has no figures: as explain does, or since it is free."""
    for query, each in zip(asked, usual, strict=False):
        if isinstance(each, Unanswerable):
            raise each.error
        if not each.cost:
            raise InterfaceError(
                f"{query.source.name} reads public tables alone: it is exact and free",
                help="give questions about private tables",
            )
    if all(isinstance(each, Unanswerable) for each in usual):
        raise InterfaceError(
            "none of the usual questions can be asked under this policy",
            help="give one that can: dpsql advise DB SQL",
        )


def _with_delta(budget: Budget) -> Budget:
    return replace(budget, delta=DELTA)


def _prices(setting: Setting, ceiling: float) -> tuple[float, ...]:
    """Return the policy's price among others that it allows."""
    return _among(setting.epsilon, tuple(price for price in PRICES if price <= ceiling))


def _among(own: float, others: Sequence[float]) -> tuple[float, ...]:
    """Return a few of the others with this one in order, it in the middle if possible."""
    listed = sorted({own, *others})
    first = max(0, min(listed.index(own) - _COLUMNS // 2, len(listed) - _COLUMNS))
    return tuple(listed[first : first + _COLUMNS])


# ---- figures of one question ---------------------------------------------------------------------------


def _numbers(planner: Planner, query: Query, setting: Setting) -> tuple[Number, ...]:
    made = planner.answerable(query, setting)
    return made.numbers if isinstance(made, Answerable) else ()


def _number(planner: Planner, query: Query, setting: Setting, at: int) -> Number | None:
    numbers = _numbers(planner, query, setting)
    return numbers[at] if at < len(numbers) else None


def _error(number: Number | None, persons: int | None) -> float | None:
    if number is None:
        return None
    error = number.error(persons or SIZES[1])
    return number.over_1000 if error is None else error


def _lines(
    planner: Planner,
    queries: Sequence[Query],
    setting: Setting,
    prices: Sequence[float],
    persons: int | None,
) -> list[Line]:
    """Return a line for each number, one for each threshold, and how many questions fit."""
    lines, fits = [], []
    for place, query in enumerate(queries, 1):
        made = [planner.answerable(query, replace(setting, epsilon=price)) for price in prices]
        sound = [each if isinstance(each, Answerable) else None for each in made]
        (example, *_) = [each for each in sound if each is not None]
        for at, number in enumerate(example.numbers):
            kind = "of the rank" if "expected_error_in_rows" in number.facts else "error"
            errors = tuple(None if each is None else _error(each.numbers[at], persons) for each in sound)
            rows = "" if number.over_1000 is None else ", 1,000 rows"
            lines.append(Line(f"{place} {number.name}{rows}", kind, errors))
        if example.shows is not None:
            shows = tuple(None if each is None else each.shows for each in sound)
            lines.append(Line(f"{place} a group shows from", "shows", shows))
        fits.append(
            [
                0 if each is None else each.fit(replace(setting, epsilon=price))
                for each, price in zip(sound, prices, strict=True)
            ]
        )
    return [
        *lines,
        Line("such questions fit", "fit", tuple(map(min, *fits)) if len(fits) > 1 else tuple(fits[0])),
    ]


def _parts(
    planner: Planner, query: Query, setting: Setting, prices: Sequence[float], sizes: Sequence[int]
) -> tuple[int, tuple[tuple[float | None, ...], ...]]:
    """Return which number can be compared to the most that it could be, and its parts of that."""
    numbers = [_numbers(planner, query, replace(setting, epsilon=price)) for price in prices]
    for at, number in enumerate(_numbers(planner, query, setting)):
        if number.error(sizes[0]) is not None and number.most(sizes[0]):
            return at, tuple(
                tuple(_part(each[at], size) if each else None for each in numbers) for size in sizes
            )
    return 0, ()


def _part(number: Number, size: int) -> float | None:
    error, most = number.error(size), number.most(size)
    return None if error is None or not most else error / most


def _shown(planner: Planner, query: Query, setting: Setting, at: int) -> str:
    number = _number(planner, query, setting, at)
    return "" if number is None else number.name


def _clipped(planner: Planner, setting: Setting, prices: Sequence[float]) -> list[Clipped]:
    """Return the errors of counts of rows, for the policy's rows per unit and others."""
    found = []
    for table in planner.many[:_TABLES]:
        query = planner.parsed(counted(table))
        clips = tuple(sorted({*CLIPS, *([] if table.rows is None else [table.rows])}))
        errors = tuple(
            tuple(
                _error(
                    _number(planner, query, replace(setting, epsilon=price, rows=((table.name, rows),)), 0),
                    None,
                )
                for price in prices
            )
            for rows in clips
        )
        found.append(Clipped(table.name, table.rows, clips, errors))
    return found


# ---- a whole budget, shared equally --------------------------------------------------------------------


def shared(setting: Setting, share: int) -> Setting:
    """Return the setting with the price of one of so many questions that share the whole budget."""
    terms = setting.terms
    (price,) = terms.accountant.parts(terms.budget.epsilon, [Fraction(1, share)], terms.budget)
    return replace(
        setting, epsilon=price * (1 - 1e-9)
    )  # parts are rounded to be shown: no less fit than these


def _suited(planner: Planner, query: Query, setting: Setting, at: int) -> Suited:
    """Return from how many equal questions on zcdp has the least noise.

    With more questions zcdp only gains: the others' prices fall with their number, its prices with the root.
    """

    def width(name: str, share: int) -> float:
        numbers = _numbers(planner, query, shared(replace(setting, accountant=name), share))
        return numbers[0].width if numbers else math.inf

    def gains(share: int) -> bool:
        return width("zcdp", share) <= min(width("pure", share), width("approx", share))

    return Suited(at, _least(gains, MOST_SHARES), math.isfinite(width("pure", 1)))


def _least(holds: Callable[[int], bool], most: int) -> int | None:
    """Return the least number from which on it holds, by halves; None if it does not hold at the most."""
    if not holds(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
