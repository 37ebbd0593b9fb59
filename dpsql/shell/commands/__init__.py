"""The backslash commands, in the order of ``\\?``."""

from __future__ import annotations

from dpsql.errors import InterfaceError
from dpsql.policy.names import nearest
from dpsql.shell.commands import files, help_text, plots, prices, settings, tables, why
from dpsql.shell.commands.command import Command
from dpsql.shell.commands.other_shells import hint, translate
from dpsql.shell.state import Shell
from dpsql.terminal.output import put


def _help(shell: Shell, argument: str) -> None:
    put(help_text.help_text(COMMANDS, shell.width()))


COMMANDS: tuple[Command, ...] = (
    *tables.COMMANDS,
    *prices.COMMANDS,
    *why.COMMANDS,
    *plots.COMMANDS,
    *files.COMMANDS,
    *settings.COMMANDS,
    Command("?", "\\?", "show this list", _help),
    *help_text.COMMANDS,
)


def command(name: str) -> Command:
    """Return the command of this name, without its backslash; refuse an unknown name."""
    for entry in COMMANDS:
        if entry.name == name:
            return entry
    near = nearest(name, [entry.name for entry in COMMANDS if len(entry.name) > 1])
    advice = hint(name) or (f"did you mean \\{near}?" if near else "\\? lists the commands")
    spelled = name if name.startswith(".") else f"\\{name}"
    raise InterfaceError(f"there is no command {spelled}", help=advice)


def takes_sql(name: str) -> bool:
    """Whether the argument of this command is a query."""
    return any(entry.name == name and entry.takes == "sql" for entry in COMMANDS)


__all__ = ["COMMANDS", "Command", "command", "takes_sql", "translate"]
