"""Where text goes: what is an answer to standard output, everything else to standard error.

Colour only on a terminal, and not where NO_COLOR asks for none (https://no-color.org).
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import suppress
from typing import TextIO

from dpsql.errors import Error, InterfaceError
from dpsql.render.digits import printable
from dpsql.render.display import PLAIN, Look
from dpsql.terminal.refusals import fitted

_STYLES = {"bold": "1", "dim": "2", "red": "31", "cyan": "36"}
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("┌┬┐├┼┤└┴┘", "+"),
        **{"─": "-", "│": "|", "±": "~", "…": "~", "█": "#", "░": ":", "·": ".", "⠀": " "},
        **dict.fromkeys("▏▎▍", "-"),
        **dict.fromkeys("▌▋▊▉▐", "="),
        **dict.fromkeys(map(chr, range(0x2801, 0x2900)), "*"),  # braille, dots of a line
    }
)
ROWS = 40
"""As many as are worth scrolling back for."""


def put(text: str) -> None:
    """A piece of the answer."""
    if sys.stdout is None:
        raise InterfaceError("there is no standard output to answer to")
    try:
        sys.stdout.write(_fit(text, sys.stdout) + "\n")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(error) from None


def put_data(content: bytes) -> None:
    """An answer for programs, as it is; on a terminal, without what could steer it."""
    text = content.decode("utf-8").removesuffix("\n")
    put(printable(text) if sys.stdout is not None and sys.stdout.isatty() else text)


def flush() -> None:
    """Everything that was put is out, or an error says that it is not."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(error) from None


def tell(text: str) -> None:
    """A word beside the answer; if nobody can hear it, so be it."""
    with suppress(OSError, AttributeError):
        print(_fit(text, sys.stderr), file=sys.stderr, flush=True)


def abandon_output() -> None:
    """Nothing more goes out: what Python would try to flush at exit goes nowhere."""
    try:
        flush()
    except (OSError, InterfaceError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Text in a style, where the stream (standard output, if none is named) shows styles."""
    stream = sys.stdout if stream is None else stream
    if (
        stream is None
        or not stream.isatty()
        or os.environ.get("NO_COLOR")
        or os.environ.get("TERM") == "dumb"
    ):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def look(hint: str = "") -> Look:
    """How standard output shows answers; on a terminal not all of a long one: ``hint`` says how to see it."""
    if sys.stdout is None or not sys.stdout.isatty():
        return PLAIN
    return Look(width(), ROWS, lambda text: paint(text, "dim"), True, hint)


def refusal(error: Error, stream: TextIO | None = None) -> str:
    """An error with its code and its caret in red, for standard error."""
    stream = sys.stderr if stream is None else stream
    text = printable(str(error))
    if stream is not None and stream.isatty():
        text = fitted(text, width())
    text = re.sub(r"^error\[\w+\]", lambda found: paint(found[0], "red", stream), text)
    text = re.sub(r"(?m)(?<=\| )( *)(\^+.*)$", lambda found: found[1] + paint(found[2], "red", stream), text)
    return re.sub(r"(?m)^  = (note|help):", lambda found: paint(found[0], "cyan", stream), text)


def width() -> int:
    """Columns of the terminal, or 80."""
    return shutil.get_terminal_size((80, 24)).columns


def interactive() -> bool:
    """Whether somebody sits there."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _fit(text: str, stream: TextIO) -> str:
    """Text that the stream can encode: boxes of ASCII where it knows no others."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def _unwritten(error: OSError) -> Error:
    return InterfaceError(
        f"the answer could not be written: {error.strerror or type(error).__name__}",
        help="nothing is lost: asked again, the same query is served from the ledger, free",
    )
