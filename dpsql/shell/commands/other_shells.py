"""What people are used to type elsewhere, and which command does the same here.

\\dt, .tables, SHOW TABLES;          \\d
.schema people, DESCRIBE people;     \\d people
exit, quit;, .exit                   \\q
"""

from __future__ import annotations

import re

from dpsql.shell.settings import SETTINGS

_LIKE = {
    "\\d": "\\dt \\dv \\d+ \\dt+ \\dp \\z .tables .schema describe desc",
    "\\q": "\\quit \\exit .quit .exit quit exit",
    "\\?": "\\help \\h .help help",
    "\\i": "\\include \\ir .read",
    "\\o": "\\out .output .once",
    "\\timing": ".timer",
    "\\set": "\\pset",
    "\\set format": ".mode",
}
_SAME = {word: ours for ours, words in _LIKE.items() for word in words.split()}
_SAME |= {"show tables": "\\d", "show all tables": "\\d", "show all": "\\set"}
_SAME |= {f"show {each.name}": f"\\set {each.name}" for each in SETTINGS}

DOTTED = {word: ours for word, ours in _SAME.items() if word[0] == "."}
"""What DuckDB's shell calls our commands."""

_HINTS = {
    "l databases": "a session has one database: \\d lists its tables",
    "c connect open": "a session has one database: leave, and start dpsql on another",
    "dn": "there are no schemas for analysts: \\d lists the tables",
    "df": "functions are listed in dpsql/docs/language.md; Tab completes their names",
    "du": "\\budget shows whose budget this session pays from",
    "e edit": "an editor is not started from here: \\i FILE does what a file says",
    "copy w": "\\o FILE writes each answer to a file",
    "g gx G": "it ends a statement, and none is open",
    "r reset": "Ctrl-C leaves what was typed",
    "t a H": "\\set format csv, or json, is for programs; \\x shows rows as lines",
    "maxrows": "\\o FILE writes all rows of an answer",
    "conninfo": "\\budget shows the accounts of this session",
    "s": "the arrow keys go through what was typed",
    "watch": "the same question has the same answer: it comes from the ledger, free",
    "password": "--analyst names who asks; dpsql knows no passwords",
    "! shell system": "nothing is started from here",
    "clear": "Ctrl-L clears the screen",
    "cd": "name files by their whole paths",
    "echo qecho print": "write -- comments instead",
}
"""Commands of psql and of DuckDB's shell that have no like here, and why."""


def alike(line: str) -> str:
    """A line of whose last word nothing or a part is typed, in our words: DESCRIBE pe, \\d pe"""
    first, space, rest = line.partition(" ")
    ours = _SAME.get(first.casefold(), "") if space and " " not in rest else ""
    setting = re.fullmatch(r"set\s+(\w+)\s*(?:=|\bto\b)\s*(\w*)", line, re.I)
    if setting is not None:
        return f"\\set {setting[1]} {setting[2]}"
    return f"{ours} {rest}" if ours else ""


def meant(line: str) -> str:
    """The command of ours that a line stands for, or the line as it is."""
    said = line.strip().removesuffix(";").rstrip()
    for number in (3, 2, 1):
        *first, rest = [*said.split(None, number), ""][: number + 1]
        ours = _SAME.get(" ".join(first).casefold())
        if ours is not None and (said[0] in "\\." or len(rest.split()) < 2):  # not DESCRIBE SELECT ...
            return f"{ours} {rest}".rstrip()
    if re.match(r"\.[a-z]", said, re.I):  # no SQL begins like that
        return f"\\{said}"
    return said if said.startswith("\\") else line


def hint(name: str) -> str:
    """Why there is no such command, if somebody may be used to it."""
    bare = name.removeprefix(".").rstrip("+")
    return next((said for names, said in _HINTS.items() if bare in names.split()), "")
