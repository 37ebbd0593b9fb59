"""Where typed lines come from: an editor, or where prompt_toolkit is missing, plain lines."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress
from pathlib import Path

from dpsql.console.opening import Opening
from dpsql.console.prompt import prompt
from dpsql.console.state import Complete, Typed


def reader(opening: Opening, options: Namespace, complete: Complete) -> Typed:
    """What gives one command or some whole statements at each call; EOFError is the end."""
    try:
        from dpsql.console.editor import edited
    except ImportError:
        return _plain(opening, Path(options.database), complete)
    return edited(opening, options, complete)


def _plain(opening: Opening, database: Path, complete: Complete) -> Typed:
    with suppress(ImportError):
        import readline  # noqa: F401 - input() edits with it

    def typed() -> str:
        now = prompt(opening.wait().db, database)
        text = input(now.text)
        while text.strip() and not complete(text):
            text += "\n" + input(now.more)
        return text

    return typed
