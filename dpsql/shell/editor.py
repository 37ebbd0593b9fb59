"""The editor of a terminal: lines, history, colours and completion, by prompt_toolkit.

Enter ends a statement after its semicolon, and a command; elsewhere it begins another line, as Alt-Enter
always does. Tab completes, Ctrl-R searches what was typed before, Ctrl-C leaves the line, Ctrl-D the shell.
"""

from __future__ import annotations

import asyncio
import re
from argparse import Namespace
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
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
"""Colours that can be read on a dark and on a light ground."""


def edited(opening: Opening, options: Namespace, complete: Complete) -> Typed:
    """Lines from an editor, of which the first may be typed before the database is open."""
    database = Path(options.database)
    known = _Known(opening, database)
    completer = _Completer(known)
    session: PromptSession[str] = PromptSession(
        history=history(),
        completer=completer,
        complete_while_typing=True,
        lexer=_Lexer(known),
        style=_STYLE,
        include_default_pygments_style=False,
        key_bindings=_keys(complete, completer),
        input_processors=[TabsProcessor(char1=" ", char2=" ")],  # in a pasted text; not as ^I
        multiline=True,
        reserve_space_for_menu=_MENU_LINES,
        enable_suspend=True,
    )

    def open_beside(_: object) -> None:
        opening.begin(partial(_opened, session, asyncio.get_running_loop(), known))

    session.app.after_render += open_beside

    def typed() -> str:
        known.forget()
        return session.prompt(
            lambda: _shown(known.prompt),  # asked again when the database is open
            prompt_continuation=lambda width, line, wrapped: _more(known.prompt, wrapped),
        )

    return typed


def _opened(session: PromptSession[str], loop: asyncio.AbstractEventLoop, known: _Known) -> None:
    """The database is open, and the prompt can say what remains; or it is not, and the prompt ends."""
    failure = known.opening.failure
    with suppress(RuntimeError):  # somebody has typed faster, and the prompt has ended
        if failure is None:
            loop.call_soon_threadsafe(session.app.invalidate)
        else:
            loop.call_soon_threadsafe(partial(session.app.exit, exception=failure))
    if failure is None:
        known.warm()


def _shown(now: Prompt) -> StyleAndTextTuples:
    budget = "class:prompt.low" if now.low else "class:prompt.budget"
    return [("class:prompt.name", now.name), ("", " "), (budget, now.budget), ("", "> ")]


def _more(now: Prompt, wrapped: int) -> StyleAndTextTuples:
    """What stands before a second line; before the rest of a long one, nothing does."""
    return [("class:prompt.more", " " * len(now.more) if wrapped else now.more)]


@dataclass(slots=True)
class _Known:
    """What the editor knows of the session, looked up once for each prompt, when it is first needed."""

    opening: Opening
    database: Path
    _tables: tuple[Table, ...] | None = None
    _prompt: Prompt | None = None

    @property
    def tables(self) -> tuple[Table, ...] | None:
        """What is publicly known of the tables; None before anything is."""
        if self._tables is None and self.opening.shell is not None:
            self._tables = self.opening.shell.db.tables
        return self._tables

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the last answer."""
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

        names = None if self.tables is None else {each.name.casefold() for each in self.tables}
        return colours(text, names)

    def warm(self) -> None:
        """The first key need not wait for the shelves of functions."""
        with suppress(Error):
            self.colours("SELECT AVG(")

    def forget(self) -> None:
        self._tables = self._prompt = None


class _Completer(Completer):
    def __init__(self, known: _Known) -> None:
        self.known = known

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        from dpsql.shell.completion import completions_at

        try:
            tables, columns = self.known.tables or (), self.known.columns
            found = completions_at(document.text, document.cursor_position, tables, columns)
        except Exception:  # nobody's line is lost for want of a completion
            return
        before = document.text_before_cursor
        if not complete_event.completion_requested:
            offers = re.search(r"[\w.('\\/]\Z|\b(from|join) \Z|\\\w+ \Z", before, re.I) is not None
            offers = offers or (before.endswith('"') and any(each.text[0] == '"' for each in found))
            if not offers or any(each.text.casefold() == before[each.start :].casefold() for each in found):
                return  # it is written already
        for each in found:
            yield Completion(each.text, each.start - document.cursor_position, display_meta=each.meta)


class _Lexer(Lexer):
    def __init__(self, known: _Known) -> None:
        self.known = known

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        if not document.text:
            return lambda at: []
        try:
            found = self.known.colours(document.text)
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
