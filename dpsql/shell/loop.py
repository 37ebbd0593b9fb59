"""Lines in; statements and commands out.

SELECT COUNT(*)          a line that begins with a backslash is a command, while no statement is open;
  FROM patients;         all others gather until a semicolon ends a statement
\\d patients
"""

from __future__ import annotations

import re
import signal
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType

from dpsql.dbapi import connect
from dpsql.errors import Error, InterfaceError, InternalError
from dpsql.parse.scripts import Lines, Statement, in_script, statements, tokens
from dpsql.shell.commands import command, meant, takes_sql
from dpsql.shell.opening import Opening
from dpsql.shell.settings import set_to
from dpsql.shell.state import Shell
from dpsql.shell.statement import ask
from dpsql.terminal.output import flush, interactive, refusal, tell

REFUSED, EXHAUSTED = 1, 3

_NAMED = re.compile(r"\\(\S*)\s*(.*)", re.S)
_GO = re.compile(r"\s*\\(gx?|G|q)\s*\Z")
"""What ends a statement in psql as well: \\gx shows its rows as lines, \\q drops it and leaves."""


def run(options: Namespace, said: str | None = None) -> int:
    """A session. Where nobody is asked, the exit code is 0, 1 for a refusal, 3 for want of budget."""
    if said in (None, "-") and interactive() and Path(options.database).exists():
        with _ended_by_signals(), closing(Opening(partial(_opened, options, True))) as opening:
            converse(opening, options)
        return 0
    shell = _opened(options, False)
    with shell.db:
        read(shell, _piped() if said in (None, "-") else said.splitlines(keepends=True), "query")
    return shell.code


def _opened(options: Namespace, interactive: bool) -> Shell:
    shell = Shell(connect(options.database, options.policy, options.ledger, options.analyst), interactive)
    shell.read = lambda text, name: read(shell, text.splitlines(keepends=True), name)
    return shell


def converse(opening: Opening, options: Namespace) -> None:
    """Prompt after prompt, until somebody leaves."""
    from dpsql.shell.line_input import reader  # a pipe needs no editor

    typed = reader(opening, options, partial(complete, ""))
    while opening.shell is None or not opening.shell.done:
        try:
            text = typed()
            shell = opening.wait()
        except KeyboardInterrupt:  # Ctrl-C leaves the line
            continue
        except EOFError:
            return
        said = _command(text)
        try:
            if said is not None and takes_sql(said[1]):  # which may take several lines
                submit(shell, text, 0, text, "query")
            else:
                read(shell, text.splitlines(keepends=True), "query")
        except KeyboardInterrupt as stop:  # and the rest of what was typed
            flush()
            tell(str(stop) or "interrupted")


# ---- what is typed or piped --------------------------------------------------------------------------


def read(shell: Shell, lines: Iterable[str], name: str) -> None:
    """Do what lines say, as soon as they say it."""
    text, at, said = "", 0, Lines()  # what was read; of that, what is not done yet begins where
    for line in lines:
        text += line
        if _completed(said, line):
            submit(shell, text[at:], at, text, name)
            at, said = len(text), Lines()
        if shell.done:
            return
    if said.begun:
        submit(shell, text[at:], at, text, name)


def complete(before: str, line: str) -> bool:
    """Whether a line that comes after others is a command, or ends a statement."""
    said = Lines()
    said.add(before)
    return _completed(said, line)


def _completed(said: Lines, line: str) -> bool:
    if not said.begun and _command(line) is not None:
        return True
    said.add(line)
    if _GO.search(line) is not None:
        *_, last = ("", *(token for _, token in tokens(line) if not token.isspace()))
        return not said.open and last in ("g", "gx", "G", "q")  # no comment
    return ";" in line and (said.finished or said.behind.startswith("\\"))  # SELECT 1; \plot


def begun(text: str) -> str:
    """A text without the spaces and comments before it."""
    for at, token in tokens(text):
        ended = token.startswith("--") or (token.startswith("/*") and token.endswith("*/"))
        if not token.isspace() and not ended:
            return text[at:]
    return ""


def _command(text: str) -> re.Match[str] | None:
    """The command that a text is, if it is one: its name, and what stands behind that."""
    return _NAMED.fullmatch(meant(begun(text).strip()))


def _piped() -> Iterator[str]:
    try:
        for at, line in enumerate(sys.stdin.buffer):
            yield line.decode("utf-8-sig" if at == 0 else "utf-8")
    except UnicodeError:
        raise InterfaceError("the input is not text in UTF-8") from None


# ---- what is done ------------------------------------------------------------------------------------


def submit(shell: Shell, text: str, start: int, whole: str, name: str) -> None:
    """Do one command, or some statements; each refusal is told, and the session goes on."""
    said = _command(text)
    if said is not None:
        with _errors_reported(shell):
            command(said[1]).run(shell, said[2])
        return
    found: tuple[Statement, ...] = ()
    with _errors_reported(shell), _placed(Statement(text, start, 1), whole, name):
        found = statements(text)
    for each in found:
        goes, behind = _GO.search(each.text), _command(each.text)
        asked = each.text if goes is None or behind is not None else each.text[: goes.start()]
        here = replace(each, text=asked, start=start + each.start)
        with _errors_reported(shell), _placed(here, whole, name):
            if behind is not None:
                command(behind[1]).run(shell, behind[2])
            elif each.setting is not None:
                set_to(shell, *each.setting)
            elif goes is not None and goes[1] == "q":
                shell.done = True
            elif goes is not None and goes[1] != "g":
                with _expanded(shell):
                    ask(shell, asked)
            else:
                ask(shell, asked)


@contextmanager
def _expanded(shell: Shell) -> Iterator[None]:
    """One answer whose rows are shown as lines."""
    before, shell.expanded = shell.expanded, True
    try:
        yield
    finally:
        shell.expanded = before


@contextmanager
def _placed(statement: Statement, whole: str, name: str) -> Iterator[None]:
    try:
        yield
    except Error as error:
        raise in_script(error, statement, whole, name) from None


@contextmanager
def _errors_reported(shell: Shell) -> Iterator[None]:
    """What goes wrong is told, and is an exit code where nobody is asked to go on."""
    try:
        yield
        flush()
    except BrokenPipeError:
        raise
    except Exception as error:  # whatever it is, the session goes on
        if shell.depth:  # what is read from a file ends here, and is told by whoever reads it
            raise
        failure = error if isinstance(error, Error) else _ours(error)
        if failure.code != "D001":  # a slip of the pen needs no explanation
            shell.refused = failure
        flush()
        tell(refusal(failure))
        shell.code = max(shell.code, EXHAUSTED if failure.code == "D501" else REFUSED)


def _ours(error: Exception) -> Error:
    """An error of dpsql's own, whose words may hold data."""
    return InternalError(
        "D901",
        f"an error of dpsql's own ({type(error).__name__})",
        help="what was debited stays debited; please report what you typed",
    )


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Ctrl-C interrupts what runs; the other signals end the session in order."""

    def told(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if interactive() else ():
        with suppress(ValueError):  # not in the main thread: signals are somebody else's
            before[number] = signal.signal(number, told)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
