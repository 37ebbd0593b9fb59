"""``\\set``, ``\\timing``, ``\\x``: show and change the settings of this session. None changes the policy."""

from __future__ import annotations

import textwrap

from dpsql.render.digits import printable
from dpsql.render.display import Look
from dpsql.render.folding import Column, Text, draw_table
from dpsql.shell.commands.command import Command
from dpsql.shell.settings import SETTINGS, change_setting, find_setting
from dpsql.shell.state import Shell
from dpsql.terminal.output import put, tell

_HELP_WIDTH, _MIN_HELP_WIDTH = 36, 20


def _set(shell: Shell, argument: str) -> None:
    if not argument:
        put(settings_text(shell))
        return
    name, _, value = argument.replace("=", " ", 1).partition(" ")
    if value:
        change_setting(shell, name, value)
        return
    setting = find_setting(name)
    put(f"{setting.name} is {setting.shown(shell)}")


def settings_text(shell: Shell) -> str:
    """Return a table of all settings: current value, allowed values, help."""
    names = ("setting", "now", "values", "what it does")
    entries = [(setting.name, setting.shown(shell), setting.values, setting.help) for setting in SETTINGS]
    room = shell.width() - 13 - sum(max(len(row[at]) for row in (names, *entries)) for at in range(3))
    rows: list[tuple[str, ...]] = []
    for name, current, values, help_ in entries:
        wraps = room >= _MIN_HELP_WIDTH
        first, *more = textwrap.wrap(help_, min(room, _HELP_WIDTH)) if wraps else [help_]
        rows.append((name, current, values, first))
        rows += [("", "", "", line) for line in more]
    columns = [Column(name, tuple(Text(row[at]) for row in rows), False) for at, name in enumerate(names)]
    return draw_table(columns, Look(width=shell.width(), records=room < _MIN_HELP_WIDTH))


def _timing(shell: Shell, argument: str) -> None:
    change_setting(shell, "timing", argument or ("off" if shell.timing else "on"))
    tell(f"timing is {'on' if shell.timing else 'off'}")


def _expanded(shell: Shell, argument: str) -> None:
    change_setting(shell, "expanded", argument or ("off" if shell.expanded else "on"))
    tell(f"expanded is {'on' if shell.expanded else 'off'}")


def _study(shell: Shell, argument: str) -> None:
    if argument:
        shell.db.study = None if argument == "off" else argument
    tell("no study is chosen" if shell.db.study is None else f"the study is {printable(shell.db.study)}")


COMMANDS = (
    Command("study", "\\study [NAME|off]", "choose the study whose budget pays too", _study),
    Command(
        "set", "\\set [NAME VALUE]", "show all settings, or change one: \\set epsilon 0.1", _set, "setting"
    ),
    Command("timing", "\\timing [on|off]", "show how long each query took", _timing, "switch"),
    Command("x", "\\x [on|off]", "show each row with one column per line", _expanded, "switch"),
)
