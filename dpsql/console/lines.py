"""Where typed lines come from: an editor, or where prompt_toolkit is missing, plain lines."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from dpsql.console.prompt import prompt
from dpsql.console.state import Complete, Shell, Typed


def reader(shell: Shell, database: Path, complete: Complete) -> Typed:
    """What gives one command or some whole statements at each call; EOFError is the end."""
    try:
        from dpsql.console.editor import edited
    except ImportError:
        return _plain(shell, database, complete)
    return edited(shell, database, complete)


def _plain(shell: Shell, database: Path, complete: Complete) -> Typed:
    with suppress(ImportError):
        import readline  # noqa: F401 - input() edits with it

    def typed() -> str:
        now = prompt(shell.db, database)
        text = input(now.text)
        while text.strip() and not complete(text):
            text += "\n" + input(now.more)
        return text

    return typed
