"""What ``SET name = value`` and ``\\set name value`` can set, and how each reads its value.

SET epsilon = 0.1;      \\set confirm 0.5      \\set timeout off
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpsql.errors import InterfaceError
from dpsql.parse.scripts import amount
from dpsql.render.formats import SCREENS
from dpsql.shell.state import Shell


@dataclass(frozen=True, slots=True)
class Setting:
    """``change`` reads a value, or says that it is none of this setting's; ``shown`` is what it is now."""

    name: str
    values: str
    help: str
    change: Callable[[Shell, str], None]
    shown: Callable[[Shell], str]


def set_to(shell: Shell, name: str, value: str) -> None:
    """Change a setting; a name or a value that means nothing is refused."""
    setting_named(name).change(shell, value.strip().removesuffix(";").strip())


def setting_named(name: str) -> Setting:
    """The setting of this name; refused if there is none."""
    for each in SETTINGS:
        if each.name == name.casefold():
            return each
    there = ", ".join(each.name for each in SETTINGS)
    raise InterfaceError(f"there is no setting {name}", help=f"there are {there}")


def _number(name: str, value: str, limit: float, wanted: str) -> float | None:
    """A positive number up to a limit, or None for off, no, none and default."""
    refused = InterfaceError(f"{name} cannot be {value or 'nothing'}", help=wanted)
    try:
        number = amount(value)
    except ValueError:
        raise refused from None
    if number is not None and number > limit:
        raise refused
    return number


def _on(name: str, value: str) -> bool:
    folded = value.casefold()
    if folded not in ("on", "off", "true", "false"):
        raise InterfaceError(f"{name} cannot be {value or 'nothing'}", help=f"write \\set {name} on, or off")
    return folded in ("on", "true")


def _epsilon(shell: Shell, value: str) -> None:
    shell.db.epsilon = _number("epsilon", value, math.inf, "write \\set epsilon 0.1, or default")


def _confirm(shell: Shell, value: str) -> None:
    shell.confirm = _number("confirm", value, 1.0, "write a share of what remains, 0.25, or off")


def _timeout(shell: Shell, value: str) -> None:
    shell.timeout = _number("timeout", value, 1e6, "write seconds, \\set timeout 30, or off")


def _timing(shell: Shell, value: str) -> None:
    shell.timing = _on("timing", value)


def _expanded(shell: Shell, value: str) -> None:
    shell.expanded = _on("expanded", value)


def _format(shell: Shell, value: str) -> None:
    if value.casefold() not in SCREENS:
        allowed = ", ".join(SCREENS)
        raise InterfaceError(f"format cannot be {value or 'nothing'}", help=f"write one of {allowed}")
    shell.format = value.casefold()


def _margins(shell: Shell, value: str) -> None:
    shell.margins = _on("margins", value)


def _or(value: float | None, otherwise: str) -> str:
    return otherwise if value is None else f"{value:g}"


SETTINGS = (
    Setting(
        "epsilon",
        "NUMBER|default",
        "the price of a query that does not say its own",
        _epsilon,
        lambda shell: f"{shell.epsilon:g}",
    ),
    Setting(
        "confirm",
        "SHARE|off",
        "ask before a query that takes more than this share of what remains",
        _confirm,
        lambda shell: _or(shell.confirm, "off"),
    ),
    Setting(
        "timeout",
        "SECONDS|off",
        "interrupt a query that takes longer",
        _timeout,
        lambda shell: _or(shell.timeout, "off"),
    ),
    Setting(
        "timing",
        "on|off",
        "say how long each query took",
        _timing,
        lambda shell: "on" if shell.timing else "off",
    ),
    Setting(
        "expanded",
        "on|off",
        "show a row as lines, one per column",
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
