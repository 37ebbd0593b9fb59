"""Read lines; run the statements and commands in them.

SELECT COUNT(*)          lines are collected until a semicolon ends the statement
  FROM patients;
\\d patients             outside a statement, a line that begins with a backslash is a command
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from types import FrameType

from dpsql.errors import Error, InterfaceError, InternalError
from dpsql.parse.scripts import Lines, Statement, in_script, statements, tokens
from dpsql.shell.commands import command, takes_sql, translate
from dpsql.shell.opening import Opening
from dpsql.shell.places import Place
from dpsql.shell.settings import change_setting
from dpsql.shell.state import Shell
from dpsql.shell.statement import ask
from dpsql.terminal.output import flush, interactive, refusal, tell

REFUSED, EXHAUSTED = 1, 3

_COMMAND = re.compile(r"\\(\S*)\s*(.*)", re.S)
_TERMINATOR = re.compile(r"\s*\\(gx?|G|q)\s*\Z")
"""The psql commands that end a statement: \\g, \\gx shows one column per line, \\q drops it and quits."""


def run(place: Place, text: str | None = None) -> int:
    """Run a session and return the exit code.

    It is 0 in a terminal. Elsewhere it is 0, 1 after a refusal, or 3 after a refusal for lack of budget.
    """
    if text in (None, "-") and interactive() and place.is_there():
        with _end_on_signals(), closing(Opening(partial(_open_shell, place, True))) as opening:
            converse(opening, place)
        return 0
    shell = _open_shell(place, False)
    with closing(shell.db):
        read(shell, _stdin_lines() if text in (None, "-") else text.splitlines(keepends=True), "query")
    return shell.code


def _open_shell(place: Place, interactive: bool) -> Shell:
    shell = Shell(place.connect(), interactive)
    shell.read = lambda text, name: read(shell, text.splitlines(keepends=True), name)
    return shell


def converse(opening: Opening, place: Place) -> None:
    """Read and run what is typed at prompts, until the user quits."""
    from dpsql.shell.line_input import reader  # a pipe needs no editor

    read_text = reader(opening, place, partial(complete, ""))
    while opening.shell is None or not opening.shell.done:
        try:
            text = read_text()
            shell = opening.wait()
        except KeyboardInterrupt:  # Ctrl-C drops the line
            continue
        except EOFError:
            return
        match = _command(text)
        try:
            if match is not None and takes_sql(match[1]):  # the SQL may take several lines
                submit(shell, text, 0, text, "query")
            else:
                read(shell, text.splitlines(keepends=True), "query")
        except KeyboardInterrupt as stop:  # it also drops the rest of the text
            flush()
            tell(str(stop) or "interrupted")


# ---- split lines into statements ---------------------------------------------------------------------


def read(shell: Shell, lines: Iterable[str], name: str) -> None:
    """Run the statements and commands in lines, each as soon as it is complete."""
    text, start, pending = "", 0, Lines()  # all text so far, and where the pending statement starts
    for line in lines:
        text += line
        if _completes(pending, line):
            submit(shell, text[start:], start, text, name)
            start, pending = len(text), Lines()
        if shell.done:
            return
    if pending.begun:
        submit(shell, text[start:], start, text, name)


def complete(before: str, line: str) -> bool:
    """Whether a line is a command or ends a statement, after the lines ``before``."""
    pending = Lines()
    pending.add(before)
    return _completes(pending, line)


def _completes(pending: Lines, line: str) -> bool:
    """Add a line to the pending lines, and say whether it completes a statement or is a command."""
    if not pending.begun and _command(line) is not None:
        return True
    pending.add(line)
    if _TERMINATOR.search(line) is not None:
        *_, last = ("", *(token for _, token in tokens(line) if not token.isspace()))
        return not pending.open and last in ("g", "gx", "G", "q")  # not inside a comment
    return ";" in line and (pending.finished or pending.behind.startswith("\\"))  # SELECT 1; \plot


def without_leading_comments(text: str) -> str:
    """Return a text without its leading spaces and comments."""
    for at, token in tokens(text):
        comment = token.startswith("--") or (token.startswith("/*") and token.endswith("*/"))
        if not token.isspace() and not comment:
            return text[at:]
    return ""


def _command(text: str) -> re.Match[str] | None:
    """Match a text that is a command: group 1 is its name, group 2 its argument."""
    return _COMMAND.fullmatch(translate(without_leading_comments(text).strip()))


def _stdin_lines() -> Iterator[str]:
    try:
        for at, line in enumerate(sys.stdin.buffer):
            yield line.decode("utf-8-sig" if at == 0 else "utf-8")
    except UnicodeError:
        raise InterfaceError("the input is not text in UTF-8") from None


# ---- run statements and commands ---------------------------------------------------------------------


def submit(shell: Shell, text: str, start: int, script: str, name: str) -> None:
    """Run one command or some statements; report each refusal and go on.

    The text begins at ``start`` of ``script``; error messages show the script's ``name``.
    """
    match = _command(text)
    if match is not None:
        with _report_errors(shell):
            command(match[1]).run(shell, match[2])
        return
    parsed: tuple[Statement, ...] = ()
    with _report_errors(shell), _locate_errors(Statement(text, start, 1), script, name):
        parsed = statements(text)
    for statement in parsed:
        terminator, trailing = _TERMINATOR.search(statement.text), _command(statement.text)
        sql = (
            statement.text
            if terminator is None or trailing is not None
            else statement.text[: terminator.start()]
        )
        located = replace(statement, text=sql, start=start + statement.start)
        with _report_errors(shell), _locate_errors(located, script, name):
            if trailing is not None:
                command(trailing[1]).run(shell, trailing[2])
            elif statement.setting is not None:
                change_setting(shell, *statement.setting)
            elif terminator is not None and terminator[1] == "q":
                shell.done = True
            elif terminator is not None and terminator[1] != "g":
                with _expanded_rows(shell):
                    ask(shell, sql)
            else:
                ask(shell, sql)


@contextmanager
def _expanded_rows(shell: Shell) -> Iterator[None]:
    """Show one answer with one column per line."""
    before, shell.expanded = shell.expanded, True
    try:
        yield
    finally:
        shell.expanded = before


@contextmanager
def _locate_errors(statement: Statement, script: str, name: str) -> Iterator[None]:
    """Make the spans of errors point into the script that the statement is part of."""
    try:
        yield
    except Error as error:
        raise in_script(error, statement, script, name) from None


@contextmanager
def _report_errors(shell: Shell) -> Iterator[None]:
    """Print errors and set the exit code; the session goes on."""
    try:
        yield
        flush()
    except BrokenPipeError:
        raise
    except Exception as error:  # no error may end the session
        if shell.depth:  # an error ends the file; the command that reads it reports the error
            raise
        failure = error if isinstance(error, Error) else _internal_error(error)
        if failure.code != "D001":  # \why does not explain a wrong command
            shell.refused = failure
        flush()
        tell(refusal(failure))
        shell.code = max(shell.code, EXHAUSTED if failure.code == "D501" else REFUSED)


def _internal_error(error: Exception) -> Error:
    """Return an internal error without the exception's message, which may contain data."""
    return InternalError(
        "D901",
        f"an error of dpsql's own ({type(error).__name__})",
        help="what was debited stays debited; please report what you typed",
    )


@contextmanager
def _end_on_signals() -> Iterator[None]:
    """Let Ctrl-C interrupt a running statement, and let the other signals end the session cleanly."""

    def handle(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if interactive() else ():
        with suppress(ValueError):  # only the main thread can set signal handlers
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
