"""Lines in; statements and commands out.

A line that begins with a backslash is a command; all others gather until a semicolon ends a statement.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from functools import partial

from dpsql.console.ask import ask
from dpsql.console.commands import command
from dpsql.console.settings import set_to
from dpsql.console.state import Shell
from dpsql.dbapi import connect
from dpsql.errors import Error
from dpsql.parse.scripts import finished, statements
from dpsql.screen.terminal import interactive, refusal, tell


def run(options: Namespace) -> int:
    """A session, and its exit code."""
    with connect(options.database, options.policy, options.ledger, options.analyst) as db:
        shell = Shell(db, interactive())
        shell.read = partial(read, shell)
        read(shell, sys.stdin.read(), "query")
        return shell.code


def read(shell: Shell, text: str, name: str) -> None:
    """Do what a text says, line by line."""
    gathered = ""
    for line in text.splitlines(keepends=True):
        if not gathered.strip() and line.lstrip().startswith("\\"):
            guarded(shell, line.strip())
        else:
            gathered += line
            if finished(gathered):
                guarded(shell, gathered)
                gathered = ""
        if shell.done:
            return
    if gathered.strip():
        guarded(shell, gathered)


def guarded(shell: Shell, text: str) -> None:
    """Do what one command or some whole statements say; a refusal is told, and the session goes on."""
    try:
        submit(shell, text)
    except Error as error:
        tell(refusal(error))
        shell.code = max(shell.code, 3 if error.code == "D501" else 1)


def submit(shell: Shell, text: str) -> None:
    """Do what one command or some whole statements say."""
    if text.lstrip().startswith("\\"):
        name, _, argument = text.strip().removeprefix("\\").partition(" ")
        command(name).run(shell, argument.strip())
        return
    for each in statements(text):
        if each.setting is not None:
            set_to(shell, *each.setting)
        else:
            ask(shell, each.text)
