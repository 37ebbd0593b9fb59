"""Answers, prices and lists of tables as JSON, and back.

    (1, None, Decimal("0.50"))      [1, null, {"decimal": "0.50"}]
    Account("ana", 4.0, 0.5)        {"Account": {"analyst": "ana", "granted": 4.0, "spent": 0.5}}

Only the classes below are ever made from a document. A field that a class does not have, or lacks, means that
the other side is of another version.
Test: tests/unit/test_remote_documents.py
"""

from __future__ import annotations

import base64
import datetime
import json
import math
import uuid
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal, InvalidOperation
from typing import Any

from dpsql.answer import Answer
from dpsql.dbapi.accounts import Account, Balance, Outlook, Purchase, TimeCap
from dpsql.errors import InterfaceError
from dpsql.ir.explanation import Explanation
from dpsql.ir.price import Expected, Price
from dpsql.policy.listing import Column, Table

_CLASSES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Account, Answer, Balance, Column, Expected, Explanation),
        *(Outlook, Price, Purchase, Table, TimeCap),
    )
}
_NAMES = {kind: name for name, kind in _CLASSES.items()}
_MICROSECOND = datetime.timedelta(microseconds=1)


def written(value: object) -> str:
    """Return the JSON text of a value."""
    return json.dumps(_tagged(value), separators=(",", ":"), allow_nan=False)


def read(text: str) -> Any:
    """Return the value of a JSON text, or refuse it."""
    try:
        return _untagged(json.loads(text))
    except (ValueError, TypeError, KeyError, OverflowError, InvalidOperation, RecursionError):
        raise InterfaceError(
            "the server's answer cannot be read: it is another version of dpsql",
            help="install the version that SHOW server_version names",
        ) from None


def _tagged(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case tuple():
            return [_tagged(each) for each in value]
        case list():
            return {"list": [_tagged(each) for each in value]}
        case dict():
            return {"dict": [[_tagged(key), _tagged(each)] for key, each in value.items()]}
        case frozenset():
            return {"set": [_tagged(each) for each in sorted(value)]}
        case Decimal():
            return {"decimal": str(value)}
        case datetime.datetime():
            return {"timestamp": value.isoformat()}
        case datetime.date():
            return {"date": value.isoformat()}
        case datetime.time():
            return {"time": value.isoformat()}
        case datetime.timedelta():
            return {"interval": value // _MICROSECOND}
        case uuid.UUID():
            return {"uuid": str(value)}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
    name = _NAMES[type(value)]
    return {name: {each.name: _tagged(getattr(value, each.name)) for each in fields(_CLASSES[name])}}


_READ: dict[str, Callable[[Any], object]] = {
    "float": float,
    "list": lambda content: [_untagged(each) for each in content],
    "dict": lambda content: {_untagged(key): _untagged(each) for key, each in content},
    "set": lambda content: frozenset(_untagged(each) for each in content),
    "decimal": Decimal,
    "timestamp": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "interval": lambda content: content * _MICROSECOND,
    "uuid": uuid.UUID,
    "bytes": lambda content: base64.b64decode(content, validate=True),
}


def _untagged(document: object) -> object:
    match document:
        case list():
            return tuple(_untagged(each) for each in document)
        case dict():
            ((name, content),) = document.items()
            if name in _READ:
                return _READ[name](content)
            kind = _CLASSES[name]
            if set(content) != {each.name for each in fields(kind)}:
                raise ValueError("other fields")
            return kind(**{field: _untagged(each) for field, each in content.items()})
    return document
