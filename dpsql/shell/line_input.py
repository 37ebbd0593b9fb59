"""Read what is typed: with the editor, or with plain ``input()`` where prompt_toolkit cannot be used."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from dpsql.render.digits import printable
from dpsql.shell.opening import Opening
from dpsql.shell.places import Place
from dpsql.shell.prompt import prompt
from dpsql.shell.state import Complete, Typed
from dpsql.terminal.output import paint, tell


def reader(opening: Opening, place: Place, complete: Complete) -> Typed:
    """Return a function that reads one command or some complete statements; it raises EOFError at the end."""
    tell(paint(_greeting(place), "dim", sys.stderr))
    with suppress(ImportError):  # the editor is an extra: without it, plain lines
        if os.environ.get("TERM", "dumb") != "dumb":
            from dpsql.shell.editor import editor_reader

            return editor_reader(opening, place.name, complete)
    return _plain_reader(opening, place.name, complete)


def _greeting(place: Place) -> str:
    who = f" as {place.analyst}" if place.analyst else ""
    return f"dpsql on {printable(place.title + who)}: SQL ends with ;   \\? for help, \\q to leave"


def _plain_reader(opening: Opening, database: str, complete: Complete) -> Typed:
    with suppress(ImportError):  # not everywhere: without it, plain lines
        import readline  # noqa: F401 - input() edits with it

    def read_text() -> str:
        current = prompt(opening.wait().db, database)
        try:
            text = input(current.text)
            while text.strip() and not complete(text):
                text += "\n" + input(current.more)
        except (KeyboardInterrupt, EOFError):
            tell("")  # start a new line
            raise
        return text

    return read_text
