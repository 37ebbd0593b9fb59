"""Frames that fit: long text is cut, then columns fold into boxes one below the other, or a row into lines.

┌────────────┬────────────┐         ┌──────────┬────────────┐
│ ward       │   patients │         │ ward     │ Cardiology │
├────────────┼────────────┤         │ patients │ 4422 ±  25 │
│ Cardiology │ 4422 ±  25 │         │ age      │ 65.8 ± 0.5 │
└────────────┴────────────┘         └──────────┴────────────┘
┌────────────┬────────────┐
│ ward       │        age │
├────────────┼────────────┤
│ Cardiology │ 65.8 ± 0.5 │
└────────────┴────────────┘
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dpsql.render.digits import wide
from dpsql.render.display import Look

_LEAST_TEXT, _LEAST_NAME = 16, 8
_ANY = 1 << 20  # as wide as it may be
_FEW = 3  # rows that are easier to read as one line per column


@dataclass(frozen=True, slots=True)
class Text:
    """What stands in a cell: first what is clear, then what is dimmed."""

    clear: str
    faint: str = ""

    @property
    def width(self) -> int:
        return wide(self.clear) + wide(self.faint)


@dataclass(frozen=True, slots=True)
class Column:
    """A name above its cells; ``number`` keeps to the right and is not cut."""

    name: str
    cells: tuple[Text, ...]
    number: bool

    @property
    def width(self) -> int:
        return max([wide(self.name), *(each.width for each in self.cells)])

    @property
    def least(self) -> int:
        """The width below which it is of no use."""
        if not self.number:
            return min(self.width, _LEAST_TEXT)
        return max([min(wide(self.name), _LEAST_NAME), *(each.width for each in self.cells)])


def folded(columns: Sequence[Column], look: Look) -> str:
    """All columns, no line longer than there is room."""
    if look.records and columns[0].cells:
        return _records(columns, look, look.width or _ANY)
    if look.width is None or _taken(each.width for each in columns) <= look.width:
        return framed(columns, look)
    if 0 < len(columns[0].cells) <= _FEW and len(columns) > 1:
        return _records(columns, look, look.width)
    blocks = _blocks(columns, look.width)
    return "\n".join(framed(_narrowed(each, look.width, look.rows), look) for each in blocks)


def framed(columns: Sequence[Column], look: Look) -> str:
    """A box as wide as its columns."""
    widths = [each.width for each in columns]
    numbers = [each.number for each in columns]
    lines = [
        _rule("┌┬┐", widths),
        _line([Text(each.name) for each in columns], widths, numbers, look),
        _rule("├┼┤", widths),
        *(_line(row, widths, numbers, look) for row in zip(*(each.cells for each in columns), strict=True)),
        _rule("└┴┘", widths),
    ]
    return "\n".join(lines)


def cut(text: str, room: int) -> str:
    """The beginning of a text, with … where it is not the whole."""
    if wide(text) <= room:
        return text
    while text and wide(text) >= room:
        text = text[: min(len(text) - 1, room)]
    return text.rstrip() + "…"


def _records(columns: Sequence[Column], look: Look, width: int) -> str:
    """Row by row, a line for each column, and more for long text."""
    names = [cut(each.name, max(_LEAST_NAME, width // 2 - 7)) for each in columns]
    named = max(map(wide, names))
    room = max(1, width - named - 7)
    blocks = [
        [
            (Text(name if first else ""), text)
            for name, column in zip(names, columns, strict=True)
            for first, text in _wrapped(column.cells[at], room, look.rows)
        ]
        for at in range(len(columns[0].cells))
    ]
    widths = [named, max(text.width for block in blocks for _, text in block)]
    lines = [_rule("┌┬┐", widths)]
    for block in blocks:
        lines += [_line(pair, widths, (False, False), look) for pair in block]
        lines.append(_rule("├┼┤", widths))
    return "\n".join([*lines[:-1], _rule("└┴┘", widths)])


def _wrapped(text: Text, room: int, most: int | None) -> list[tuple[bool, Text]]:
    """A text in lines, of which there are at most so many; True is the first."""
    if text.width <= room:
        return [(True, text)]
    whole = text.clear + text.faint
    some = whole if most is None else whole[: most * room]
    lines = textwrap.wrap(some, room, break_on_hyphens=False, drop_whitespace=True)
    while any(wide(each) > room for each in lines):  # signs that take two columns
        lines = [piece for each in lines for piece in _halves(each, room)]
    if most is not None and (len(lines) > most or some != whole):
        lines = [*lines[: most - 1], cut(f"… {len(whole):,} letters in all", room)]
    return [(at == 0, Text(line)) for at, line in enumerate(lines)]


def _halves(line: str, room: int) -> tuple[str, ...]:
    middle = len(line) // 2
    return (line,) if wide(line) <= room or not middle else (line[:middle], line[middle:])


def _blocks(columns: Sequence[Column], width: int) -> list[list[Column]]:
    """As many columns as there is room for, again and again, behind those that name the row."""
    names: list[Column] = []
    for each in columns:
        if each.number or _taken(column.least for column in (*names, each)) > width // 2:
            break
        names.append(each)
    blocks, block = [], list(names)
    for each in columns[len(names) :]:
        if len(block) > len(names) and _taken(column.least for column in (*block, each)) > width:
            blocks.append(block)
            block = list(names)
        block.append(each)
    return [*blocks, block]


def _narrowed(columns: Sequence[Column], width: int, most: int | None) -> list[Column]:
    """The widest are cut first, numbers last."""
    if len(columns) == 1:
        room = max(1, width - 4)
        lines = tuple(line for cell in columns[0].cells for _, line in _wrapped(cell, room, most))
        return [replace(columns[0], name=cut(columns[0].name, width - 4), cells=lines)]
    sizes = [(each.least, each.width) for each in columns]
    limit = width
    while limit > 1 and _taken(max(least, min(whole, limit)) for least, whole in sizes) > width:
        limit -= 1
    rooms = [max(least, min(whole, limit)) for least, whole in sizes]
    over = max(0, _taken(rooms) - width)
    return [_cut(each, max(1, room - over)) for each, room in zip(columns, rooms, strict=True)]


def _cut(column: Column, room: int) -> Column:
    texts = tuple(
        each if each.width <= room else Text(cut(each.clear + each.faint, room)) for each in column.cells
    )
    return replace(column, name=cut(column.name, room), cells=texts)


def _taken(widths: Iterable[int]) -> int:
    """The width of a frame around columns."""
    return 1 + sum(each + 3 for each in widths)


def _rule(ends: str, widths: Sequence[int]) -> str:
    return ends[0] + ends[1].join("─" * (width + 2) for width in widths) + ends[2]


def _line(cells: Sequence[Text], widths: Sequence[int], right: Sequence[bool], look: Look) -> str:
    padded = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        space = " " * (width - cell.width)
        text = cell.clear + (look.dim(cell.faint) if cell.faint else "")
        padded.append(space + text if to_right else text + space)
    return "│ " + " │ ".join(padded) + " │"
