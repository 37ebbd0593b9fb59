"""What clients set and ask: SET and SHOW of what drivers send, and three settings of dpsql's own.

    SET dpsql.epsilon = 0.2        the price of a question that does not say its own
    SET dpsql.margins = columns    a column <name>_margin after each noised one, for tools that drop notices
    SET dpsql.notices = off        no prices as notices

Values that another one would be a lie for (an encoding, a style of dates) are refused; what changes nothing
here is kept and shown again; what nobody knows is taken with a notice.
Test: tests/unit/test_server_statements.py
"""

from __future__ import annotations

import math
from dataclasses import field
from sys import getsizeof

from dpsql.lazy_dataclass import dataclass
from dpsql.server.setting_values import FIXED, FREE

_LONGEST_NAME = 63
_SPELLED = {
    "server_version": "server_version",
    "datestyle": "DateStyle",
    "intervalstyle": "IntervalStyle",
    "timezone": "TimeZone",
}
REPORTED = (
    *("server_version", "server_encoding", "client_encoding", "application_name", "is_superuser"),
    *("session_authorization", "datestyle", "intervalstyle", "timezone", "integer_datetimes"),
    *("standard_conforming_strings", "default_transaction_read_only", "in_hot_standby"),
)
"""What clients are told at login, and when it changes."""


class BadSetting(Exception):
    """A value that cannot be; ``state`` is the sqlstate."""

    def __init__(self, message: str, hint: str, state: str = "22023") -> None:
        super().__init__(message)
        self.message, self.hint, self.state = message, hint, state


@dataclass(slots=True)
class Settings:
    """The settings of one connection; ``fixed`` are those that hold for all of its life."""

    fixed: dict[str, str]
    longest: float
    values: dict[str, str] = field(default_factory=dict)
    epsilon: float | None = None
    timeout: float = 0.0

    def __post_init__(self) -> None:
        self.timeout = self.longest

    def show(self, name: str) -> str | None:
        """Return the value of a setting; None if there is none of this name."""
        match name:
            case "statement_timeout":
                return f"{self.timeout * 1000:.0f}ms"
            case "dpsql.epsilon":
                return "default" if self.epsilon is None else repr(self.epsilon)
            case "dpsql.margins":
                return self.values.get(name, "off")
            case "dpsql.notices":
                return self.values.get(name, "on")
        return self.fixed.get(name) or FIXED.get(name) or self.values.get(name, FREE.get(name))

    @property
    def size(self) -> int:
        """About how many bytes the client's own values take."""
        return sum(getsizeof(name) + getsizeof(value) for name, value in self.values.items())

    @property
    def known(self) -> set[str]:
        """Return the names of all settings that have a value; SET bounds how many there are."""
        own = {"statement_timeout", "dpsql.epsilon", "dpsql.margins", "dpsql.notices"}
        return {*self.fixed, *FIXED, *FREE, *self.values, *own}

    def listed(self) -> list[tuple[str, str]]:
        """Return all settings, by name."""
        return [(spelled(name), self.show(name) or "") for name in sorted(self.known)]

    def change(self, name: str, value: str | None) -> str:
        """Set a value, None for its default; return what there is to say about it."""
        if name == "dpsql.epsilon":
            self.epsilon = None if value is None else _number(name, value)
        elif name == "statement_timeout":
            asked = 0.0 if value is None else _seconds(value)
            self.timeout = min(asked, self.longest) if asked > 0 else self.longest
        elif name in ("dpsql.margins", "dpsql.notices"):
            self._choose(name, value)
        elif name == "timezone":
            if value is not None and value.casefold() != self.fixed.get(name, "").casefold():
                return f"the time zone is the policy's, {self.fixed.get(name, 'UTC')}, and stays it"
        elif name in FIXED or name in self.fixed:
            self._check(name, value)
        elif value is None:
            self.values.pop(name, None)
        else:
            known = name in FREE or name in self.values
            if not known and (len(self.values) >= 100 or len(name) > _LONGEST_NAME):
                raise BadSetting("too many settings", "RESET ALL forgets them", "54000")
            self.values[name] = value[:1000]
            if name not in FREE:
                return f"there is no setting {name}: it is kept, and changes nothing"
        return ""

    def reset(self) -> None:
        self.values.clear()
        self.epsilon, self.timeout = None, self.longest

    def _choose(self, name: str, value: str | None) -> None:
        choices = {"dpsql.margins": ("off", "columns"), "dpsql.notices": ("on", "off")}[name]
        chosen = choices[0] if value is None else value.lower()
        if chosen not in choices:
            raise BadSetting(f"{name} is {' or '.join(choices)}", f"write SET {name} = {choices[1]}")
        self.values[name] = chosen

    def _check(self, name: str, value: str | None) -> None:
        """Accept the value that a fixed setting has anyway."""
        fixed = self.fixed.get(name) or FIXED[name]
        if value is None or name in ("server_version", "session_authorization"):
            return
        said = "".join(char for char in value.lower() if char.isalnum())
        have = "".join(char for char in fixed.lower() if char.isalnum())
        alike = {
            "client_encoding": {"utf8", "unicode", "utf8mb4", "sqlascii"},
            "datestyle": {"iso", "isomdy", "isodmy", "isoymd", "mdy", "ymd", "dmy"},
            "transaction_isolation": {"serializable", "repeatableread", "readuncommitted"},
            "default_transaction_isolation": {"serializable", "repeatableread", "readuncommitted"},
            "default_transaction_read_only": {"off", "false", "on", "true"},
            "transaction_read_only": {"off", "false", "on", "true"},
            "standard_conforming_strings": {"true", "1", "yes"},
            "escape_string_warning": {"off"},
        }.get(name, set())
        if said != have and said not in alike:
            raise BadSetting(
                f"{spelled(name)} is {fixed} here, and nothing else", f"leave out SET {spelled(name)}"
            )


def spelled(name: str) -> str:
    """Return the spelling of a setting that clients expect."""
    return _SPELLED.get(name, name)


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise BadSetting(f"{name} must be a positive number", f"write SET {name} = 0.2, or DEFAULT")
    return number


def _seconds(value: str) -> float:
    """Read a time as PostgreSQL does: in milliseconds, or with its unit."""
    number = value.strip().rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = {"": 0.001, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "us": 1e-6, "d": 86400.0}.get(
        value.strip()[len(number) :].strip()
    )
    try:
        seconds = float(number) * (unit if unit is not None else math.nan)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise BadSetting(
            "statement_timeout is a time", "write SET statement_timeout = '30s', or 0 for the longest"
        )
    return seconds
