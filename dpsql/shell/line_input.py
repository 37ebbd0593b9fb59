"""Where typed lines come from: an editor, or plain lines where prompt_toolkit is missing or cannot draw."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import suppress
from pathlib import Path

from dpsql.render.digits import printable
from dpsql.shell.opening import Opening
from dpsql.shell.prompt import prompt
from dpsql.shell.state import Complete, Typed
from dpsql.terminal.output import paint, tell


def reader(opening: Opening, options: Namespace, complete: Complete) -> Typed:
    """What gives one command or some whole statements at each call; EOFError is the end."""
    tell(paint(_greeting(Path(options.database), options.analyst), "dim", sys.stderr))
    with suppress(ImportError):
        if os.environ.get("TERM", "dumb") != "dumb":
            from dpsql.shell.editor import edited

            return edited(opening, options, complete)
    return _plain(opening, Path(options.database), complete)


def _greeting(database: Path, analyst: str | None) -> str:
    who = f" as {analyst}" if analyst else ""
    return f"dpsql on {printable(database.name + who)}: SQL ends with ;   \\? for help, \\q to leave"


def _plain(opening: Opening, database: Path, complete: Complete) -> Typed:
    with suppress(ImportError):
        import readline  # noqa: F401 - input() edits with it

    def typed() -> str:
        now = prompt(opening.wait().db, database)
        try:
            text = input(now.text)
            while text.strip() and not complete(text):
                text += "\n" + input(now.more)
        except (KeyboardInterrupt, EOFError):
            tell("")  # what comes next begins a line
            raise
        return text

    return typed
