"""The interactive shell: ``dpsql shell DB``, in a terminal or reading a pipe.

state.py       the state of a session: the connection, the settings, the last answer
settings.py    the settings that SET and \\set change
loop.py        read lines, run statements and commands
statement.py   run one statement: confirm a large price, execute, report what was paid
commands/      the backslash commands, one entry each in COMMANDS
completion/    completion and colours in the editor
"""

from __future__ import annotations

from argparse import Namespace


def run(options: Namespace, text: str | None = None) -> int:
    """Run ``dpsql shell`` with the options ``database``, ``policy``, ``ledger`` and ``analyst``.

    ``text`` is run instead of reading lines from the terminal or a pipe.
    """
    from dpsql.shell.loop import run as loop

    return loop(options, text)


__all__ = ["run"]
