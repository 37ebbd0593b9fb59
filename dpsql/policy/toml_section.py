"""A table of the policy's document. Its methods read values of one type, or refuse them with their place.

section.allow(QUERY)           D802 for any key but those of [query], with the nearest of them
section.positive("epsilon")    8.0, or D803 under the value
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import TypeGuard

from dpsql.errors import DatabaseError
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.names import fold, nearest, perhaps
from dpsql.policy.toml_keys import TOP, Key, Keys
from dpsql.policy.toml_positions import Document, Path


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the document: its values and its path."""

    document: Document
    path: Path
    values: Mapping[str, object]

    @property
    def title(self) -> str:
        return f"[{'.'.join(map(str, self.path))}]" if self.path else "the policy"

    def line(self, key: str) -> int:
        return self.document.line((*self.path, key))

    def wrong(
        self,
        key: str | None,
        title: str,
        *,
        at: int | None = None,
        on_key: bool = False,
        label: str = "",
        help: str = "",
    ) -> DatabaseError:
        """Return D803 at a key's value (or its ``at``-th element), or at this table's own name."""
        path = self.path if key is None else (*self.path, key)
        path = path if at is None else (*path, at)
        return self.document.refuse("D803", title, path, on_key=on_key, label=label, help=help)

    def allow(self, keys: Keys) -> None:
        """Refuse (D802) any key that is not one of these."""
        known = keys.names
        for key, value in self.values.items():
            if key in known:
                continue
            way_out = perhaps(key, known) or f"{self.title} may hold {', '.join(known)}"
            in_schema = len(self.path) == 2 and self.path[0] == "tables" and isinstance(value, dict)
            if in_schema and nearest(key, known) is None:
                way_out = f'a table in a schema is written [tables."{self.path[1]}.{key}"]'
            raise self.document.refuse(
                "D802",
                f"the policy has no key called {key}",
                (*self.path, key),
                on_key=True,
                label=f"not a key of {self.title}",
                help=way_out,
            )

    def need(self, key: Key) -> None:
        """Refuse (D803) if the key is missing."""
        if key.name not in self.values:
            raise self.wrong(
                None,
                f"{self.title} needs {key.name}",
                on_key=True,
                label=f"no {key.name} here",
                help=key.needed,
            )

    def table(self, key: str, *, needed: bool = False) -> Section:
        if needed and key not in self.values:
            raise self.wrong(None, f"the policy needs [{key}]", help=HELP[key])
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(
                key, f"{key} must be a table", label=f"this is {sort_of(value)}", help=HELP.get(key, "")
            )
        return Section(self.document, (*self.path, key), value)

    def tables(self) -> list[tuple[str, Section]]:
        """Return every entry, each of which must be a table."""
        return [(key, self.table(key)) for key in self.values]

    def string(self, key: str) -> str:
        value = self.values[key]
        if not isinstance(value, str):
            raise self.wrong(key, f"{key} must be a string", label=f"this is {sort_of(value)}")
        return value

    def positive(self, key: str) -> float:
        number = self.number(key)
        if not (math.isfinite(number) and number > 0):
            raise self.wrong(key, f"{key} must be a finite number above zero")
        return number

    def number(self, key: str) -> float:
        value = self.values[key]
        if not is_number(value):
            raise self.wrong(key, f"{key} must be a number", label=f"this is {sort_of(value)}")
        return as_float(value)

    def boolean(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, f"{key} must be true or false", label=f"this is {sort_of(value)}")
        return value

    def distinct(self) -> None:
        """Refuse two keys that are the same name to the database."""
        seen: dict[str, str] = {}
        for name in self.values:
            before = seen.setdefault(fold(name), name)
            if before != name:
                raise self.wrong(name, f"{before} and {name} are the same name to the database", on_key=True)


HELP = {key.name: key.needed for key in TOP.keys if key.needed}


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def family(value: object) -> str:
    """Return the family of comparable values: integers with floats, but not local with offset times."""
    return "number" if is_number(value) else sort_of(value).removeprefix("a ").removeprefix("an ")


def sort_of(value: object) -> str:
    """Return the name of a TOML value's type, in TOML's words."""
    match value:
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a float"
        case str():
            return "a string"
        case datetime.datetime():
            return "a date-time" if value.tzinfo is None else "a date-time with an offset"
        case datetime.date():
            return "a date"
        case datetime.time():
            return "a time"
        case list():
            return "an empty array" if not value else "an array"
        case dict():
            return "a table"
        case _:
            return "a value"
