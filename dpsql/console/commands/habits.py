"""What people are used to type elsewhere, and which command does the same here.

    \\dt, .tables, SHOW TABLES;     \\d
    .schema people, DESCRIBE people;  \\d people
    exit, quit, .exit              \\q
"""

from __future__ import annotations

import re

_SAME = {
    **dict.fromkeys(("\\dt", "\\d+", "\\dv", "\\dt+", "\\z", ".tables", "show tables", "show all tables"), "\\d"),
    **dict.fromkeys((".schema", "describe", "desc"), "\\d"),
    **dict.fromkeys(("\\quit", "\\exit", ".quit", ".exit", "quit", "exit"), "\\q"),
    **dict.fromkeys(("\\help", "\\h", ".help", "help"), "\\?"),
    **dict.fromkeys((".read", "\\include", "\\ir"), "\\i"),
    **dict.fromkeys((".output", ".once", "\\out", "\\g"), "\\o"),
    **dict.fromkeys((".timer",), "\\timing"),
    **dict.fromkeys((".mode", "\\pset format"), "\\set format"),
}
"""Where nothing or one word more may follow."""

_HINTS = {
    "l": "a session has one database: \\d lists its tables",
    "c": "a session has one database: leave, and start dpsql on another",
    "dn": "there are no schemas for analysts: \\d lists the tables",
    "df": "functions are listed in dpsql/docs/language.md; Tab completes their names",
    "du": "\\budget shows whose budget this session pays from",
    "e": "an editor is not started from here: \\i FILE does what a file says",
    "copy": "\\o FILE writes each answer to a file",
    "conninfo": "\\budget shows the accounts of this session",
    "s": "the arrow keys go through what was typed",
    "watch": "the same question has the same answer: it comes from the ledger, free",
    "password": "--analyst names who asks; dpsql knows no passwords",
    "!": "nothing is started from here",
    "echo": "write -- comments instead",
}
"""Commands of psql that have no like here, and why."""

_FIRST = re.compile(r"(\\?\.?[\w?+!]+(?:\s+(?:all\s+)?(?:tables|format))?)\s*(.*?)\s*;?\s*", re.S | re.I)


def meant(line: str) -> str:
    """The command of ours that a line stands for, or the line as it is."""
    found = _FIRST.fullmatch(line.strip())
    if found is None:
        return line
    same = _SAME.get(" ".join(found[1].casefold().split()))
    if same is None or (len(found[2].split()) > 1 and not line.lstrip().startswith(("\\", "."))):
        return line
    return f"{same} {found[2]}".rstrip()


def hint(name: str) -> str:
    """Why there is no such command, if somebody may be used to it."""
    return _HINTS.get(name.rstrip("+"), "")
