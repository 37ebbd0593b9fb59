"""The interactive shell: ``dpsql shell DB``, in a terminal or behind a pipe.

state.py       what a session holds: the connection, settings, the last answer
settings.py    what SET and \\set can set
loop.py        lines in; statements and commands out
statement.py         the price, the question before a large one, the query, what was paid
commands/      the backslash commands, one entry each in COMMANDS
"""

from __future__ import annotations

from argparse import Namespace


def run(options: Namespace, said: str | None = None) -> int:
    """``dpsql shell``: ``database``, ``policy``, ``ledger`` and ``analyst`` are read from the options.

    What is ``said`` is done instead of asking.
    """
    from dpsql.shell.loop import run as loop

    return loop(options, said)


__all__ = ["run"]
