"""The line editor of a terminal, with history, colours and completion, built on prompt_toolkit.

Enter submits a command, or a statement that ends with a semicolon; elsewhere it starts a new line, as
Alt-Enter always does. Tab completes, Ctrl-R searches the history, Ctrl-C drops the line, Ctrl-D quits.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import split_lines
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout.processors import TabsProcessor
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from dpsql.errors import Error
from dpsql.lazy_dataclass import dataclass
from dpsql.shell.history import history
from dpsql.shell.opening import Opening
from dpsql.shell.prompt import Prompt, prompt
from dpsql.shell.state import Complete, Typed

if TYPE_CHECKING:
    from dpsql.policy.listing import Table

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
"""Colours that are readable on a dark and on a light background."""


def editor_reader(opening: Opening, database: str, complete: Complete) -> Typed:
    """Return a function that reads from the editor; it can start before the database is open."""
    known = _SessionFacts(opening, database)
    completer = _Completer(known)
    session: PromptSession[str] = PromptSession(
        history=history(),
        completer=completer,
        complete_while_typing=True,
        lexer=_Lexer(known),
        style=_STYLE,
        include_default_pygments_style=False,
        key_bindings=_keys(complete, completer),
        input_processors=[TabsProcessor(char1=" ", char2=" ")],  # show pasted tabs as spaces, not as ^I
        multiline=True,
        reserve_space_for_menu=_MENU_LINES,
        enable_suspend=True,
    )

    def open_in_background(_: object) -> None:
        opening.begin(partial(_refresh_prompt, session, asyncio.get_running_loop(), known))

    session.app.after_render += open_in_background

    def read_text() -> str:
        known.forget()
        return session.prompt(
            lambda: _styled(known.prompt),  # called again when the database is open
            prompt_continuation=lambda width, line, wrapped: _styled_more(known.prompt, wrapped),
        )

    return read_text


def _refresh_prompt(
    session: PromptSession[str], loop: asyncio.AbstractEventLoop, known: _SessionFacts
) -> None:
    """Redraw the prompt with the remaining budget, or end it if the database could not be opened."""
    failure = known.opening.failure
    with suppress(RuntimeError):  # the prompt has already ended
        if failure is None:
            loop.call_soon_threadsafe(session.app.invalidate)
        else:
            loop.call_soon_threadsafe(partial(session.app.exit, exception=failure))
    if failure is None:
        known.warm()


def _styled(current: Prompt) -> StyleAndTextTuples:
    """Return the prompt with its styles."""
    budget = "class:prompt.low" if current.low else "class:prompt.budget"
    return [("class:prompt.name", current.name), ("", " "), (budget, current.budget), ("", "> ")]


def _styled_more(current: Prompt, wrapped: int) -> StyleAndTextTuples:
    """Return the prompt of a continuation line; blanks before the rest of a wrapped line."""
    return [("class:prompt.more", " " * len(current.more) if wrapped else current.more)]


@dataclass(slots=True)
class _SessionFacts:
    """Tables, columns and prompt of the session, looked up at most once for each prompt."""

    opening: Opening
    database: str
    _tables: tuple[Table, ...] | None = None
    _prompt: Prompt | None = None

    @property
    def tables(self) -> tuple[Table, ...] | None:
        """The tables and their public facts; None before the database is open."""
        if self._tables is None and self.opening.shell is not None:
            self._tables = self.opening.shell.db.tables
        return self._tables

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the last answer."""
        shell = self.opening.shell
        return () if shell is None or shell.last is None else shell.last.columns

    @property
    def prompt(self) -> Prompt:
        shell = self.opening.shell
        if shell is None:
            return prompt(None, self.database)
        if self._prompt is None:
            self._prompt = prompt(shell.db, self.database)
        return self._prompt

    def colours(self, text: str) -> list[tuple[str, str]]:
        from dpsql.shell.completion import colours  # the first prompt does not wait for it

        names = None if self.tables is None else {table.name.casefold() for table in self.tables}
        return colours(text, names)

    def warm(self) -> None:
        """Load the lists of functions before the first key needs them."""
        with suppress(Error):  # only loads what the first key needs
            self.colours("SELECT AVG(")

    def forget(self) -> None:
        self._tables = self._prompt = None


class _Completer(Completer):
    def __init__(self, known: _SessionFacts) -> None:
        self.known = known

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        from dpsql.shell.completion import completions_at

        try:
            tables, columns = self.known.tables or (), self.known.columns
            candidates = completions_at(document.text, document.cursor_position, tables, columns)
        except Exception:  # a failed completion must not lose the line
            return
        before = document.text_before_cursor
        if not complete_event.completion_requested:
            offers = re.search(r"[\w.('\\/]\Z|\b(from|join) \Z|\\\w+ \Z", before, re.I) is not None
            offers = offers or (
                before.endswith('"') and any(candidate.text[0] == '"' for candidate in candidates)
            )
            if not offers or any(
                candidate.text.casefold() == before[candidate.start :].casefold() for candidate in candidates
            ):
                return  # the text is already complete
        for candidate in candidates:
            yield Completion(
                candidate.text, candidate.start - document.cursor_position, display_meta=candidate.meta
            )


class _Lexer(Lexer):
    def __init__(self, known: _SessionFacts) -> None:
        self.known = known

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        if not document.text:
            return lambda at: []
        try:
            pieces = self.known.colours(document.text)
        except Exception:  # show the line without colours
            pieces = [("", document.text)]
        styled: StyleAndTextTuples = [(f"class:{style}" if style else "", text) for style, text in pieces]
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
            completions = buffer.complete_state.completions
        else:
            completions = list(
                completer.get_completions(buffer.document, CompleteEvent(completion_requested=True))
            )
        if len(completions) == 1:  # apply it at once, without a menu
            buffer.apply_completion(completions[0])
        elif buffer.complete_state is not None:
            buffer.complete_next()
        elif completions:
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
