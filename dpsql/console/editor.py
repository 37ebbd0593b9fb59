"""The editor of a terminal: lines, history, colours and completion, by prompt_toolkit.

Enter ends a statement after its semicolon, and a command; elsewhere it begins another line, as Alt-Enter
always does. Tab completes, Ctrl-R searches what was typed before, Ctrl-C leaves the line, Ctrl-D the shell.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import split_lines
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from dpsql.answer.digits import printable
from dpsql.console.completion import colours, typed
from dpsql.console.history import history
from dpsql.console.prompt import Prompt, prompt
from dpsql.console.state import Complete, Shell, Typed
from dpsql.errors import Error
from dpsql.policy.listing import Table
from dpsql.screen.terminal import paint, tell

_MENU_LINES = 7

_STYLE = Style.from_dict(
    {
        "prompt.name": "bold",
        "prompt.budget": "ansicyan",
        "prompt.low": "ansired",
        "prompt.more": "dim",
        "keyword": "bold",
        "function": "ansicyan",
        "text": "ansigreen",
        "number": "",
        "comment": "dim",
        "command": "bold",
        "unknown": "underline",
        "completion-menu": "noinherit",
        "completion-menu.completion": "noinherit",
        "completion-menu.completion.current": "noinherit reverse",
        "completion-menu.meta.completion": "noinherit dim",
        "completion-menu.meta.completion.current": "noinherit dim",
        "scrollbar.background": "noinherit",
        "scrollbar.button": "noinherit",
    }
)
"""Colours that can be read on a dark and on a light ground."""


def edited(shell: Shell, database: Path, complete: Complete) -> Typed:
    """Lines from an editor."""
    known = _Known(shell)
    tell(paint(_greeting(shell, database), "dim", sys.stderr))
    completer = _Completer(known)
    session: PromptSession[str] = PromptSession(
        history=history(),
        completer=completer,
        complete_while_typing=True,
        lexer=_Lexer(known),
        style=_STYLE,
        include_default_pygments_style=False,
        key_bindings=_keys(complete, completer),
        multiline=True,
        reserve_space_for_menu=_MENU_LINES,
        enable_suspend=True,
    )

    threading.Thread(target=known.warm, daemon=True).start()

    def typed() -> str:
        known.forget()
        now = prompt(shell.db, database)
        return session.prompt(_shown(now), prompt_continuation=partial(_more, now.more))

    return typed


def _greeting(shell: Shell, database: Path) -> str:
    who = f" as {shell.db.analyst}" if shell.db.analyst else ""
    return f"dpsql on {printable(database.name + who)}: SQL ends with ;   \\? for help, \\q to leave"


def _shown(now: Prompt) -> StyleAndTextTuples:
    budget = "class:prompt.low" if now.low else "class:prompt.budget"
    return [("class:prompt.name", now.name), ("", " "), (budget, now.budget), ("", "> ")]


def _more(more: str, width: int, line: int, wrapped: int) -> StyleAndTextTuples:
    """What stands before a second line; before the rest of a long one, nothing does."""
    return [("class:prompt.more", " " * len(more) if wrapped else more)]


@dataclass(slots=True)
class _Known:
    """What is publicly known of the tables: looked up once for each statement, when it is first needed."""

    shell: Shell
    _tables: tuple[Table, ...] | None = field(default=None)

    @property
    def tables(self) -> tuple[Table, ...]:
        if self._tables is None:
            self._tables = self.shell.db.tables
        return self._tables

    @property
    def names(self) -> frozenset[str]:
        return frozenset(each.name.casefold() for each in self.tables)

    def warm(self) -> None:
        """The first key is not the one to wait for the shelves."""
        with suppress(Error):
            colours("SELECT AVG(", self.names)

    def forget(self) -> None:
        self._tables = None


class _Completer(Completer):
    def __init__(self, known: _Known) -> None:
        self.known = known

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        try:
            last = self.known.shell.last
            columns = () if last is None else last.columns
            found = typed(document.text, document.cursor_position, self.known.tables, columns)
        except Exception:  # nobody's line is lost for want of a completion
            return
        before = document.text_before_cursor
        if not complete_event.completion_requested:
            offers = re.search(r"[\w.('\\/]$|\b(from|join) $|\\\w+ $", before, re.I) is not None
            found = [each for each in found if each.eager and offers]
            if any(each.text.casefold() == before[each.start :].casefold() for each in found):
                return  # it is written already
        for each in found:
            yield Completion(each.text, each.start - document.cursor_position, display_meta=each.meta)


class _Lexer(Lexer):
    def __init__(self, known: _Known) -> None:
        self.known = known

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        try:
            found = colours(document.text, self.known.names)
        except Exception:  # a line without colours is a line
            found = [("", document.text)]
        styled: StyleAndTextTuples = [(f"class:{style}" if style else "", text) for style, text in found]
        lines = list(split_lines(styled))
        return lambda at: lines[at] if at < len(lines) else []


def _keys(complete: Complete, completer: Completer) -> KeyBindings:
    keys = KeyBindings()
    typing = has_focus("DEFAULT_BUFFER")

    @Condition
    def chosen() -> bool:
        state = get_app().current_buffer.complete_state
        return state is not None and state.current_completion is not None

    @keys.add("tab", filter=typing)
    def _tab(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None:
            found = buffer.complete_state.completions
        else:
            found = list(completer.get_completions(buffer.document, CompleteEvent(completion_requested=True)))
        if len(found) == 1:  # at once: who types fast goes on without looking
            buffer.apply_completion(found[0])
        elif buffer.complete_state is not None:
            buffer.complete_next()
        elif found:
            buffer.start_completion(insert_common_part=True)

    @keys.add("enter", filter=typing & ~chosen)
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.text.strip() or complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    @keys.add("enter", filter=typing & chosen)
    def _choose(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add("escape", "enter", filter=typing)
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.newline()

    return keys
