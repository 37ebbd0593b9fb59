"""Edits of a text, and where a place of the edited text was before.

applied("a public.t", [Edit(2, 9, "       ")]).original(9)      9
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``start`` to ``end`` of the original text becomes ``word``."""

    start: int
    end: int
    word: str


@dataclass(frozen=True, slots=True)
class Understood:
    """A statement as dpsql reads it; ``edits`` lead back to the text as it was written."""

    text: str
    edits: tuple[Edit, ...]

    def original(self, offset: int) -> int:
        """Return the place in the original text; a place within an edited word is at its start."""
        moved = 0
        for edit in self.edits:
            begins = edit.start + moved
            if offset < begins:
                break
            if offset < begins + len(edit.word):
                return min(edit.start + offset - begins, edit.end) if _as_long(edit) else edit.start
            moved += len(edit.word) - (edit.end - edit.start)
        return offset - moved


def _as_long(edit: Edit) -> bool:
    return len(edit.word) == edit.end - edit.start


def applied(sql: str, edits: Sequence[Edit]) -> Understood:
    """Apply edits that do not overlap; of two that do, the first stays."""
    parts: list[str] = []
    made: list[Edit] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at:
            continue
        parts += [sql[at : edit.start], edit.word]
        made.append(edit)
        at = edit.end
    return Understood("".join(parts) + sql[at:], tuple(made))
