"""The command line: run one command and return its exit code.

    0    answered             2    wrong usage (argparse says what)
    1    refused              3    the budget does not hold the price
    130  stopped by Ctrl-C    141  the reader closed the pipe

An answer goes to standard output, a refusal to standard error. A command never writes both.
"""

from __future__ import annotations

import atexit
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

_PAID = "stopped: what was paid stays paid; ask the same query again, and it is completed without a new price"


def program() -> NoReturn:
    """Run ``main`` as the console script, set up to start and to end quickly.

    Imports create many objects and no garbage, so the collector runs less often. numpy must not start
    threads: the matrices here are small.
    """
    gc.set_threshold(200_000)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _end(main())


def _end(code: int) -> NoReturn:
    """End the process as Python does, but for taking apart all that was imported: a fifth of a short command.

    All threads are daemons, and the answer has been flushed or abandoned.
    """
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError, AttributeError):  # closed, or nobody listens: all has been said
        sys.stderr.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Print no traceback: it could show data."""
    with _signals_recorded() as stopped:
        try:
            return _run_command(arguments)
        except BaseException as error:  # Ctrl-C too: each has its exit code, none a traceback
            if stopped:
                abandon_output()
                tell(_stop_message(error))
                return 128 + stopped[0]
            return _report_error(error)


def _stop_message(error: BaseException) -> str:
    """Return the message of a stopped command, or the general one."""
    return str(error) if isinstance(error, KeyboardInterrupt) and str(error) else _PAID


def _run_command(arguments: Sequence[str] | None) -> int:
    from dpsql.cli.command_list import parsed, parser, spelled_out  # imported here, where Ctrl-C is handled

    words = spelled_out(sys.argv[1:] if arguments is None else list(arguments))
    if not words:
        parser().print_help(sys.stderr)
        return USAGE
    options = parsed(words)
    code = options.run(options)
    flush()
    assert isinstance(code, int)
    return code


def _report_error(error: BaseException) -> int:
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
def _signals_recorded() -> Iterator[list[int]]:
    """Turn signals into KeyboardInterrupt, so that the engine's spill folder is removed.

    The yielded list records the signals. Code below may turn the interrupt into another error; the list
    still tells that a signal arrived.
    """
    stopped: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.append(number)
        raise KeyboardInterrupt

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with suppress(ValueError):  # not the main thread: signals cannot be set here
            before[number] = signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


__all__ = ["main", "program"]
