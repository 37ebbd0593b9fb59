"""The editor of a terminal: lines, history, colours and completion, by prompt_toolkit.

Enter ends a statement after its semicolon, and a command; elsewhere it begins another line, as Alt-Enter
always does. Tab completes, Ctrl-R searches what was typed before, Ctrl-C leaves the line, Ctrl-D the shell.
"""

from __future__ import annotations

from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from dpsql.console.history import history
from dpsql.console.prompt import Prompt, prompt
from dpsql.console.state import Complete, Shell, Typed

_MENU_LINES = 7


def edited(shell: Shell, database: Path, complete: Complete) -> Typed:
    """Lines from an editor."""
    session: PromptSession[str] = PromptSession(
        history=history(),
        key_bindings=_keys(complete),
        multiline=True,
        reserve_space_for_menu=_MENU_LINES,
        enable_suspend=True,
    )

    def typed() -> str:
        now = prompt(shell.db, database)
        return session.prompt(_shown(now), prompt_continuation=[("class:prompt.more", now.more)])

    return typed


def _shown(now: Prompt) -> StyleAndTextTuples:
    budget = "class:prompt.low" if now.low else "class:prompt.budget"
    return [("class:prompt.name", now.name), ("", " "), (budget, now.budget), ("", "> ")]


def _keys(complete: Complete) -> KeyBindings:
    keys = KeyBindings()

    @Condition
    def chosen() -> bool:
        state = get_app().current_buffer.complete_state
        return state is not None and state.current_completion is not None

    @keys.add("enter", filter=has_focus("DEFAULT_BUFFER") & ~chosen)
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.text.strip() or complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    @keys.add("enter", filter=has_focus("DEFAULT_BUFFER") & chosen)
    def _choose(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add("escape", "enter", filter=has_focus("DEFAULT_BUFFER"))
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.newline()

    return keys
