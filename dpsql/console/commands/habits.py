"""What people are used to type elsewhere, and which command does the same here.

\\dt, .tables, SHOW TABLES;          \\d
.schema people, DESCRIBE people;     \\d people
exit, quit;, .exit                   \\q
"""

from __future__ import annotations

_LIKE = {
    "\\d": "\\dt \\dv \\d+ \\dt+ \\z .tables .schema describe desc",
    "\\q": "\\quit \\exit .quit .exit quit exit",
    "\\?": "\\help \\h .help help",
    "\\i": "\\include .read",
    "\\o": "\\out .output",
    "\\timing": ".timer",
    "\\set format": ".mode",
}
_SAME = {word: ours for ours, words in _LIKE.items() for word in words.split()}
_SAME |= {"show tables": "\\d", "\\pset format": "\\set format"}

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


def meant(line: str) -> str:
    """The command of ours that a line stands for, or the line as it is."""
    said = line.strip().removesuffix(";").rstrip()
    for number in (2, 1):
        *first, rest = [*said.split(None, number), ""][: number + 1]
        ours = _SAME.get(" ".join(first).casefold())
        if ours is not None and (said[0] in "\\." or len(rest.split()) < 2):  # not DESCRIBE SELECT ...
            return f"{ours} {rest}".rstrip()
    return said if said.startswith("\\") else line


def hint(name: str) -> str:
    """Why there is no such command, if somebody may be used to it."""
    return _HINTS.get(name.rstrip("+"), "")
