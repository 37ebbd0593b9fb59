"""The settings that ``SET name = value`` and ``\\set name value`` change.

SET epsilon = 0.1;      \\set confirm 0.5      \\set timeout off
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.scripts import amount
from dpsql.render.formats import SCREENS
from dpsql.shell.state import Shell


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: ``change`` parses and stores a value, or refuses it; ``shown`` returns the current value."""

    name: str
    values: str
    help: str
    change: Callable[[Shell, str], None]
    shown: Callable[[Shell], str]


def change_setting(shell: Shell, name: str, value: str) -> None:
    """Change a setting; refuse an unknown name or an invalid value."""
    find_setting(name).change(shell, value.strip().removesuffix(";").strip())


def find_setting(name: str) -> Setting:
    """Return the setting of this name; refuse an unknown name."""
    for setting in SETTINGS:
        if setting.name == name.casefold():
            return setting
    names = ", ".join(setting.name for setting in SETTINGS)
    raise InterfaceError(f"there is no setting {name}", help=f"the settings are {names}")


def _number(name: str, value: str, limit: float, help: str) -> float | None:
    """Parse a positive number up to a limit; None for off, no, none and default."""
    refused = InterfaceError(f"{name} cannot be {value or 'empty'}", help=help)
    try:
        number = amount(value)
    except ValueError:
        raise refused from None
    if number is not None and number > limit:
        raise refused
    return number


def _switch(name: str, value: str) -> bool:
    """Parse on or off."""
    folded = value.casefold()
    if folded not in ("on", "off", "true", "false"):
        raise InterfaceError(f"{name} cannot be {value or 'empty'}", help=f"write \\set {name} on, or off")
    return folded in ("on", "true")


def _epsilon(shell: Shell, value: str) -> None:
    shell.db.epsilon = _number("epsilon", value, math.inf, "write \\set epsilon 0.1, or default")


def _confirm(shell: Shell, value: str) -> None:
    shell.confirm = _number(
        "confirm", value, 1.0, "write a share of what remains, \\set confirm 0.25, or off"
    )


def _timeout(shell: Shell, value: str) -> None:
    shell.timeout = _number("timeout", value, 1e6, "write seconds, \\set timeout 30, or off")


def _timing(shell: Shell, value: str) -> None:
    shell.timing = _switch("timing", value)


def _expanded(shell: Shell, value: str) -> None:
    shell.expanded = _switch("expanded", value)


def _format(shell: Shell, value: str) -> None:
    if value.casefold() not in SCREENS:
        allowed = ", ".join(SCREENS)
        raise InterfaceError(f"format cannot be {value or 'empty'}", help=f"write one of {allowed}")
    shell.format = value.casefold()


def _margins(shell: Shell, value: str) -> None:
    shell.margins = _switch("margins", value)


def _number_or_off(value: float | None) -> str:
    return "off" if value is None else f"{value:g}"


SETTINGS = (
    Setting(
        "epsilon",
        "NUMBER|default",
        "the epsilon of a query that sets none itself",
        _epsilon,
        lambda shell: f"{shell.epsilon:g}",
    ),
    Setting(
        "confirm",
        "SHARE|off",
        "ask before a query that costs more than this share of what remains",
        _confirm,
        lambda shell: _number_or_off(shell.confirm),
    ),
    Setting(
        "timeout",
        "SECONDS|off",
        "interrupt a query that takes longer",
        _timeout,
        lambda shell: _number_or_off(shell.timeout),
    ),
    Setting(
        "timing",
        "on|off",
        "show how long each query took",
        _timing,
        lambda shell: "on" if shell.timing else "off",
    ),
    Setting(
        "expanded",
        "on|off",
        "show each row with one column per line",
        _expanded,
        lambda shell: "on" if shell.expanded else "off",
    ),
    Setting("format", "|".join(SCREENS), "how answers are shown", _format, lambda shell: shell.format),
    Setting(
        "margins",
        "on|off",
        "csv, parquet: a margin after each noised column",
        _margins,
        lambda shell: "on" if shell.margins else "off",
    ),
)
