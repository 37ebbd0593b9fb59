"""The command line: parse the words, run the command, end with a code.

    0    answered             2    wrong usage (argparse says what)
    1    refused              3    the budget does not hold the price
    130  stopped by Ctrl-C    141  whoever read the output left

An answer goes to standard output and a refusal to standard error: where there is the one, there is
nothing of the other.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from dpsql.errors import Error, InternalError
from dpsql.terminal.output import abandon_output, flush, refusal, tell

REFUSED, USAGE, EXHAUSTED, READER_LEFT = 1, 2, 3, 141

_PAID = "stopped: what was paid stays paid; ask the same query again and it is completed for that price"


def program() -> NoReturn:
    """``main`` in a process of its own, set up to start quickly.

    Loading makes many objects and no garbage, so the collector need not look after every 700. numpy would
    start threads to multiply matrices, and ours are small.
    """
    gc.set_threshold(50_000)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Never a traceback: it could hold data."""
    with _stoppable() as stopped:
        try:
            return _command(arguments)
        except BaseException as error:
            if stopped:
                abandon_output()
                tell(_words(error))
                return 128 + stopped[0]
            return _ended(error)


def _words(error: BaseException) -> str:
    """What a stopped command says of itself, or of any."""
    return str(error) if isinstance(error, KeyboardInterrupt) and str(error) else _PAID


def _command(arguments: Sequence[str] | None) -> int:
    from dpsql.cli.command_list import parsed, parser, spelled_out  # here, where Ctrl-C is already understood

    words = spelled_out(sys.argv[1:] if arguments is None else list(arguments))
    if not words:
        parser().print_help(sys.stderr)
        return USAGE
    options = parsed(words)
    code = options.run(options)
    flush()
    assert isinstance(code, int)
    return code


def _ended(error: BaseException) -> int:
    match error:
        case SystemExit(code=int(code)):  # argparse: usage, help, version
            abandon_output()
            return code
        case BrokenPipeError():
            abandon_output()
            return READER_LEFT
        case Error():
            abandon_output()
            tell(refusal(error))
            return EXHAUSTED if error.code == "D501" else REFUSED
        case Exception():
            abandon_output()
            tell(
                refusal(
                    InternalError(
                        "D901",
                        f"an error of dpsql's own ({type(error).__name__})",
                        help="what was debited stays debited; please report the command",
                    )
                )
            )
            return REFUSED
        case _:
            raise error


@contextmanager
def _stoppable() -> Iterator[list[int]]:
    """A signal ends the command in order (the engine's spill folder is removed) and is noted in the list.

    What runs may turn the interruption into an error of its own, so the note is what counts.
    """
    stopped: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.append(number)
        raise KeyboardInterrupt

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with suppress(ValueError):  # not in the main thread: signals are somebody else's
            before[number] = signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


__all__ = ["main", "program"]
