"""``\\why``: what a refusal's code means, why it exists, and what to write instead."""

from __future__ import annotations

from dpsql.console.commands.command import Command
from dpsql.console.state import Shell
from dpsql.errors import CODES, InterfaceError
from dpsql.policy.names import nearest
from dpsql.screen.terminal import put
from dpsql.screen.why import why


def _why(shell: Shell, argument: str) -> None:
    code = argument.upper()
    if not code:
        if shell.refused is None:
            raise InterfaceError("nothing was refused yet", help="write \\why D301 for the code of a refusal")
        code = shell.refused.code
    text = why(code if code.startswith("D") else f"D{code}")
    if text is None:
        meant = nearest(code, CODES)
        raise InterfaceError(
            f"there is no code {argument}",
            help=f"did you mean {meant}?" if meant else "a refusal's code stands in brackets: error[D301]",
        )
    put(text)


COMMANDS = (Command("why", "\\why [CODE]", "what a refusal means; alone, the last one", _why, "code"),)
