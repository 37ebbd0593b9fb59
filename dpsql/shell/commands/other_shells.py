"""Commands of psql and DuckDB's shell, translated into the commands of this shell.

\\dt, .tables, SHOW TABLES;          \\d
.schema people, DESCRIBE people;     \\d people
exit, quit;, .exit                   \\q
"""

from __future__ import annotations

import re

from dpsql.shell.settings import SETTINGS

_SYNONYMS = {
    "\\d": "\\dt \\dv \\d+ \\dt+ \\dp \\z .tables .schema describe desc",
    "\\q": "\\quit \\exit .quit .exit quit exit",
    "\\?": "\\help \\h .help help",
    "\\i": "\\include \\ir .read",
    "\\o": "\\out .output .once",
    "\\timing": ".timer",
    "\\set": "\\pset",
    "\\set format": ".mode",
}
_TRANSLATIONS = {word: command for command, words in _SYNONYMS.items() for word in words.split()}
_TRANSLATIONS |= {"show tables": "\\d", "show all tables": "\\d", "show all": "\\set"}
_TRANSLATIONS |= {f"show {setting.name}": f"\\set {setting.name}" for setting in SETTINGS}

DOTTED = {word: command for word, command in _TRANSLATIONS.items() if word[0] == "."}
"""The dot commands of DuckDB's shell that have a translation."""

_HINTS = {
    "l databases": "a session has one database: \\d lists its tables",
    "c connect open": "a session has one database: quit, and start dpsql with another",
    "dn": "analysts see no schemas: \\d lists the tables",
    "df": "functions are listed in dpsql/docs/language.md; Tab completes their names",
    "du": "\\budget shows the accounts this session pays from",
    "e edit": "the shell starts no editor: \\i FILE runs a file",
    "copy w": "\\o FILE writes each answer to a file",
    "g gx G": "it ends a statement, and none is open",
    "r reset": "Ctrl-C drops what was typed",
    "t a H": "for programs, \\set format csv or json; \\x shows one column per line",
    "maxrows": "\\o FILE writes all rows of an answer",
    "conninfo": "\\budget shows the accounts of this session",
    "s": "the arrow keys go through the history",
    "watch": "a repeated query has the same answer: it comes from the ledger, free",
    "password": "files have no passwords; on a server its owner sets them: dpsql analyst passwd",
    "! shell system": "the shell starts no other programs",
    "clear": "Ctrl-L clears the screen",
    "cd": "write the full paths of files",
    "echo qecho print": "write -- comments instead",
}
"""Help for the commands of psql and DuckDB's shell that have no translation."""


def translate_prefix(line: str) -> str:
    """Translate an unfinished line for completion: DESCRIBE pe -> \\d pe; '' without a translation."""
    first, space, rest = line.partition(" ")
    command = _TRANSLATIONS.get(first.casefold(), "") if space and " " not in rest else ""
    setting = re.fullmatch(r"set\s+(\w+)\s*(?:=|\bto\b)\s*(\w*)", line, re.I)
    if setting is not None:
        return f"\\set {setting[1]} {setting[2]}"
    return f"{command} {rest}" if command else ""


def translate(line: str) -> str:
    """Translate a line into a command of this shell; return it unchanged if it is none."""
    text = line.strip().removesuffix(";").rstrip()
    for number in (3, 2, 1):
        *first, rest = [*text.split(None, number), ""][: number + 1]
        command = _TRANSLATIONS.get(" ".join(first).casefold())
        if command is not None and (text[0] in "\\." or len(rest.split()) < 2):  # not DESCRIBE SELECT ...
            return f"{command} {rest}".rstrip()
    if re.match(r"\.[a-z]", text, re.I):  # a dot command; no SQL starts with a dot and a letter
        return f"\\{text}"
    return text if text.startswith("\\") else line


def hint(name: str) -> str:
    """Return help for a command that other shells have and this one has not, or ''."""
    bare = name.removeprefix(".").rstrip("+")
    return next((text for names, text in _HINTS.items() if bare in names.split()), "")
