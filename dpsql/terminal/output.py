"""Write answers to standard output and everything else to standard error.

Colours are used only on a terminal, and never if NO_COLOR is set (https://no-color.org).
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
from dpsql.terminal.refusals import fit_refusal

_STYLES = {"bold": "1", "dim": "2", "red": "31", "cyan": "36"}
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("┌┬┐├┼┤└┴┘", "+"),
        **{"─": "-", "│": "|", "±": "~", "…": "~", "█": "#", "░": ":", "·": ".", "⠀": " "},
        **dict.fromkeys("▏▎▍", "-"),
        **dict.fromkeys("▌▋▊▉▐", "="),
        **dict.fromkeys(map(chr, range(0x2801, 0x2900)), "*"),  # the braille dots of line charts
    }
)
ROWS = 40
"""The number of rows of an answer that a terminal shows."""


def put(text: str) -> None:
    """Write a part of the answer."""
    if sys.stdout is None:
        raise InterfaceError("there is no standard output for the answer")
    try:
        sys.stdout.write(_fit(text, sys.stdout) + "\n")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(error) from None


def put_data(content: bytes) -> None:
    """Write an answer for programs unchanged; on a terminal, with control characters escaped."""
    text = content.decode("utf-8").removesuffix("\n")
    put(printable(text) if sys.stdout is not None and sys.stdout.isatty() else text)


def flush() -> None:
    """Flush the answer, or refuse if it cannot be written."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(error) from None


def tell(text: str) -> None:
    """Write a message to standard error; ignore errors while writing it."""
    with suppress(OSError, AttributeError):  # nobody listens: nothing more can be said
        print(_fit(text, sys.stderr), file=sys.stderr, flush=True)


def abandon_output() -> None:
    """Flush the output, or discard it, so that Python does not fail to flush it at exit."""
    try:
        flush()
    except (OSError, InterfaceError):
        with suppress(OSError, ValueError):  # it has no descriptor, or is closed
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Add a style to a text if the stream shows styles; the default stream is standard output."""
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
    """Return the look of standard output; a terminal shortens long answers and shows the ``hint``."""
    if sys.stdout is None or not sys.stdout.isatty():
        return PLAIN
    return Look(width(), ROWS, lambda text: paint(text, "dim"), True, hint)


def refusal(error: Error, stream: TextIO | None = None) -> str:
    """Format an error for standard error, with its code and caret in red."""
    stream = sys.stderr if stream is None else stream
    text = printable(str(error))
    if stream is not None and stream.isatty():
        text = fit_refusal(text, width())
    text = re.sub(r"^error\[\w+\]", lambda match: paint(match[0], "red", stream), text)
    text = re.sub(r"(?m)(?<=\| )( *)(\^+.*)$", lambda match: match[1] + paint(match[2], "red", stream), text)
    return re.sub(r"(?m)^  = (note|help):", lambda match: paint(match[0], "cyan", stream), text)


def width() -> int:
    """Return the columns of the terminal, or 80."""
    return shutil.get_terminal_size((80, 24)).columns


def interactive() -> bool:
    """Whether standard input and standard output are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _fit(text: str, stream: TextIO) -> str:
    """Return a text that the stream can encode, with ASCII boxes if necessary."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def _unwritten(error: OSError) -> Error:
    return InterfaceError(
        f"the answer could not be written: {error.strerror or type(error).__name__}",
        help="nothing is lost: the ledger serves the same query again, free",
    )
