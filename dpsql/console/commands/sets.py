"""``\\set``, ``\\timing``, ``\\x``: how this session asks and shows. The owner's policy stays as it is."""

from __future__ import annotations

import textwrap

from dpsql.answer.fold import Column, Text, folded
from dpsql.answer.look import Look
from dpsql.console.commands.command import Command
from dpsql.console.settings import SETTINGS, set_to
from dpsql.console.state import Shell
from dpsql.screen.terminal import put, tell

_HELP = 36  # columns for what a setting does


def _set(shell: Shell, argument: str) -> None:
    if not argument:
        put(settings_text(shell))
        return
    name, _, value = argument.replace("=", " ", 1).partition(" ")
    set_to(shell, name, value)


def settings_text(shell: Shell) -> str:
    """Every setting: what it is now, what it may be, what it does."""
    names = ("setting", "now", "values", "what it does")
    rows: list[tuple[str, ...]] = []
    for each in SETTINGS:
        first, *more = textwrap.wrap(each.help, _HELP)
        rows.append((each.name, each.shown(shell), each.values, first))
        rows += [("", "", "", line) for line in more]
    columns = [Column(name, tuple(Text(row[at]) for row in rows), False) for at, name in enumerate(names)]
    return folded(columns, Look(width=shell.width()))


def _timing(shell: Shell, argument: str) -> None:
    set_to(shell, "timing", argument or ("off" if shell.timing else "on"))
    tell(f"timing is {'on' if shell.timing else 'off'}")


def _expanded(shell: Shell, argument: str) -> None:
    set_to(shell, "expanded", argument or ("off" if shell.expanded else "on"))
    tell(f"expanded is {'on' if shell.expanded else 'off'}")


COMMANDS = (
    Command("set", "\\set [NAME VALUE]", "all settings, or change one: \\set epsilon 0.1", _set, "setting"),
    Command("timing", "\\timing [on|off]", "say how long each query took", _timing),
    Command("x", "\\x [on|off]", "show each row as lines, one per column", _expanded),
)
