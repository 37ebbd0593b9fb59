"""Where an answer goes: the screen, or the file that ``\\o`` named."""

from __future__ import annotations

from dpsql.answer import Answer
from dpsql.answer.box import answer_text
from dpsql.console.state import Shell
from dpsql.screen.terminal import put


def show(shell: Shell, answer: Answer) -> None:
    """The answer and its price."""
    put(answer_text(answer))
