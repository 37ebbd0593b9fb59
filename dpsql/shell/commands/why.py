"""``\\why``: explain a refusal code: what it means, why it exists, and what to write instead."""

from __future__ import annotations

import textwrap

from dpsql.errors import CODES, InterfaceError
from dpsql.policy.names import nearest
from dpsql.shell.commands.command import Command
from dpsql.shell.state import Shell
from dpsql.terminal.output import put
from dpsql.terminal.why import why


def _why(shell: Shell, argument: str) -> None:
    code = argument.upper()
    if not code:
        if shell.refused is None:
            raise InterfaceError("nothing was refused yet", help="name a code: \\why D301")
        code = shell.refused.code
    text = why(code if code.startswith("D") else f"D{code}")
    if text is None:
        similar = nearest(code, CODES)
        raise InterfaceError(
            f"there is no code {argument}",
            help=f"did you mean {similar}?" if similar else "the code is in brackets: error[D301]",
        )
    put("\n".join(_wrapped(line, shell.width()) for line in text.split("\n")))


def _wrapped(line: str, width: int) -> str:
    """Wrap a line of prose or SQL, keeping its indent."""
    if len(line) <= width:
        return line
    margin = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.lstrip(),
        width,
        initial_indent=margin,
        subsequent_indent=margin + "    " * bool(margin),
        break_on_hyphens=False,
    )


COMMANDS = (Command("why", "\\why [CODE]", "explain a refusal code, or the last refusal", _why, "code"),)
