"""The backslash commands, in the order of ``\\?``."""

from __future__ import annotations

from dpsql.errors import InterfaceError
from dpsql.policy.names import nearest
from dpsql.shell.commands import files, help_text, plots, prices, settings, tables, why
from dpsql.shell.commands.command import Command
from dpsql.shell.commands.other_shells import hint, meant
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
    Command("?", "\\?", "this list", _help),
    *help_text.COMMANDS,
)


def command(name: str) -> Command:
    """The command of this name, without its backslash."""
    for each in COMMANDS:
        if each.name == name:
            return each
    near = nearest(name, [each.name for each in COMMANDS if len(each.name) > 1])
    said = hint(name) or (f"did you mean \\{near}?" if near else "\\? lists them")
    spelled = name if name.startswith(".") else f"\\{name}"
    raise InterfaceError(f"there is no command {spelled}", help=said)


def takes_sql(name: str) -> bool:
    """Whether a query stands behind it."""
    return any(each.name == name and each.takes == "sql" for each in COMMANDS)


__all__ = ["COMMANDS", "Command", "command", "meant", "takes_sql"]
