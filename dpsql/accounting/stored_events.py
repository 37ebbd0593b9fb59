"""The events of a debit as a ledger keeps them: JSON with exact numbers, equal events once with their number.

    [[1, "gaussian", 1048576, 4809000.5, null, null], [3, "choice", 0.1]]

Floats are written so that they are read as the same float. A charge adds up events in any order, so their
order is not kept. Earlier versions kept the text of Python values, which a grammar of its own reads:

    (GaussianEvent(sensitivity=1048576, scale=4809000.5, epsilon=None, delta=None), ChoiceEvent(epsilon=0.1))

Text that was cut, for its length, cannot be read: None, not a guess.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import astuple, fields
from typing import Any

from dpsql.ir.event import (
    AlertEvent,
    ChoiceEvent,
    Event,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)

LONGEST = 2**16
"""Characters of events that an entry keeps; of more, the beginning and a digest."""

MOST = 10**6
"""Events that a text may stand for: no plan has as many, and a ledger may be anybody's."""

_KINDS: dict[str, type[Any]] = {
    "laplace": LaplaceEvent,
    "geometric": GeometricEvent,
    "gaussian": GaussianEvent,
    "threshold": ThresholdEvent,
    "choice": ChoiceEvent,
    "response": ResponseEvent,
    "alert": AlertEvent,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_OLD = {kind.__name__: kind for kind in _KINDS.values()}
_NUMBER = r"(?:None|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_EVENT = rf"(?P<kind>[A-Z][A-Za-z]+)\((?P<fields>[a-z]+={_NUMBER}(?:, [a-z]+={_NUMBER})*)\)"


def stored(events: tuple[Event, ...]) -> str:
    """Return the JSON text of events."""
    counted = Counter(events).items()
    return json.dumps(
        [[count, _NAMES[type(event)], *_numbers(event)] for event, count in counted], allow_nan=False
    )


def _numbers(event: Event) -> tuple[Any, ...]:
    """Return the fields of an event; of a response without a design its epsilon, as it always was."""
    numbers = astuple(event)
    return numbers[:1] if isinstance(event, ResponseEvent) and event.values == 2 else numbers


def read(text: str) -> tuple[Event, ...] | None:
    """Return the events of a stored text; None if it is neither form, or was cut."""
    return _read_json(text) if text.startswith("[") else _read_old(text)


def _read_json(text: str) -> tuple[Event, ...] | None:
    try:
        rows = json.loads(text)
    except ValueError:
        return None
    events: list[Event] = []
    for row in rows:
        if not isinstance(row, list) or len(row) < 2:
            return None
        count, name, *numbers = row
        if type(count) is not int or count < 1 or not isinstance(name, str) or name not in _KINDS:
            return None
        event = _made(_KINDS[name], numbers)
        if event is None or len(events) + count > MOST:
            return None
        events += [event] * count
    return tuple(events)


def _read_old(text: str) -> tuple[Event, ...] | None:
    if text == "()":
        return ()
    if not re.fullmatch(rf"\({_unnamed(_EVENT)}(?:,|(?:, {_unnamed(_EVENT)})+)\)", text):
        return None
    events: list[Event] = []
    for match in re.finditer(_EVENT, text):
        kind = _OLD.get(match["kind"])
        pairs = [pair.split("=") for pair in match["fields"].split(", ")]
        names = [] if kind is None else [field.name for field in fields(kind)]
        if kind is None or [name for name, _ in pairs] != (names[:1] if kind is ResponseEvent else names):
            return None
        event = _made(kind, [_number(number) for _, number in pairs])
        if event is None:
            return None
        events.append(event)
    return tuple(events)


def _unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def _number(text: str) -> int | float | None:
    if text == "None":
        return None
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def _made(kind: type[Any], numbers: list[Any]) -> Event | None:
    """Return an event with these numbers, if they are as many and of the types that it has."""
    if kind is ResponseEvent and len(numbers) == 1:
        numbers = [*numbers, ResponseEvent(0.0).values]
    if len(numbers) != len(fields(kind)):
        return None
    for field, number in zip(fields(kind), numbers, strict=True):
        types: tuple[type, ...] = (int,) if field.name in ("sensitivity", "values") else (int, float)
        if type(number) not in types and not (
            number is None and kind is GaussianEvent and field.default is None
        ):
            return None
    event: Event = kind(*numbers)
    return event
