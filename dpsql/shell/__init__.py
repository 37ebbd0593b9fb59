"""The interactive shell: ``dpsql shell DB``, in a terminal or reading a pipe.

places.py      where the database is: files, or a server
state.py       the state of a session: the connection, the settings, the last answer
settings.py    the settings that SET and \\set change
loop.py        read lines, run statements and commands
statement.py   run one statement: confirm a large price, execute, report what was paid
commands/      the backslash commands, one entry each in COMMANDS
completion/    completion and colours in the editor
"""

from __future__ import annotations

from dpsql.shell.places import Place


def run(place: Place, text: str | None = None) -> int:
    """Run ``dpsql shell`` on a database's files, or at its server.

    ``text`` is run instead of reading lines from the terminal or a pipe.
    """
    from dpsql.shell.loop import run as loop

    return loop(place, text)


__all__ = ["run"]
